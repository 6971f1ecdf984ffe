/** Checks count, pages and order of a list. */
import type { Attribute } from '../../model/model.ts'
import type { Random } from '../../engine/testing/random.ts'
import type { Case, Probe } from './probe.ts'
import { LARGEST_PAGE, draw, type Subject } from './subject.ts'
import { compareShown, findId, isOrdered, isPlainlyShown, show, type PlainRecord } from './values.ts'

const MOST_FOLLOWED_PAGES = 12
const UNRESERVED_NAME = /^[\w-]+$/

interface VisibleOrder {
  readonly key: string
  readonly compare: (a: PlainRecord, b: PlainRecord) => number
  readonly show: (record: PlainRecord) => string
}

export async function checkLists(probe: Probe, subject: Subject, random: Random, runs: number): Promise<void> {
  // The caller may not list.
  if (subject.count === undefined) return
  await checkCount(probe.begin(), subject)
  for (let run = 0; run < runs; run++) await checkPages(probe.begin(), subject, random)
  for (const order of draw(random, listOrders(subject), runs * 3)) await checkOrder(probe.begin(), subject, order)
}

async function checkCount(test: Case, subject: Subject): Promise<void> {
  const { count = 0 } = subject
  const whole = await test.read(subject.list({}, { depth: 1, limit: LARGEST_PAGE }))
  const none = await test.read(subject.list({}, { limit: 0 }))
  const beyond = await test.read(subject.list({}, { limit: 1, offset: count }))
  if (whole === undefined || none === undefined || beyond === undefined) return
  const page = subject.recordsIn(whole.body)
  const expected = Math.min(count, LARGEST_PAGE, (whole.body as { readonly limit: number }).limit)
  test.check('counted', page?.length === expected, subject.name(), () => {
    return `The list says that ${count} records match, and its first page has ${page?.length ?? 'no'} records, not ${expected}.`
  })
  const other = (none.body as { readonly count: number }).count
  test.check('counted', other === count, subject.name(), () => `The count is ${count} on the first page, and ${other} with limit=0.`)
  test.check('counted', subject.recordsIn(none.body)?.length === 0, subject.name(), () => 'A list with limit=0 has records.')
  test.check('counted', subject.recordsIn(beyond.body)?.length === 0, subject.name(), () => {
    return `The count is ${count}, and there is a record after the first ${count}.`
  })
}

/** Compares pages from a random offset, by `next`, with a single large page. */
async function checkPages(test: Case, subject: Subject, random: Random): Promise<void> {
  const { count = 0, resource } = subject
  const size = random.between(1, Math.max(1, Math.ceil(Math.min(count, LARGEST_PAGE) / 4)))
  const offset = random.between(0, Math.max(0, count - size * MOST_FOLLOWED_PAGES))
  const [order] = draw(random, listOrders(subject), 1)
  const sort = order === undefined || random.fraction() < 0.5 ? {} : { sort: order.key }
  const length = Math.min(size * MOST_FOLLOWED_PAGES, subject.version.maxLimit)
  const whole = await test.read(subject.list({}, { ...sort, depth: 1, limit: length, offset }))
  const expected = whole === undefined ? undefined : subject.recordsIn(whole.body)
  if (expected === undefined) return
  const found: PlainRecord[] = []
  let next: unknown = subject.list({}, { ...sort, depth: 1, limit: size, offset })
  while (typeof next === 'string' && found.length < expected.length) {
    const answer = await test.read(next)
    const page = answer === undefined ? undefined : subject.recordsIn(answer.body)
    if (page === undefined || page.length === 0) break
    found.push(...page)
    next = (answer!.body as { readonly next: unknown }).next
  }
  const listIds = (records: readonly PlainRecord[]): string => show(records.map(record => findId(record, resource)))
  const same = found.length >= expected.length && listIds(found.slice(0, expected.length)) === listIds(expected)
  test.check('paged', same, subject.name(), () => {
    return `Pages of ${size} from offset ${offset} have the records ${listIds(found)}; the same part as one page has ${listIds(expected)}.`
  })
}

/** Sort keys with visible values. By a to-many attribute, records sort by the number of members. */
function listOrders({ resource: { attributes } }: Subject): VisibleOrder[] {
  return attributes.flatMap((attribute): VisibleOrder[] => {
    if (!attribute.sortable || attribute.flag !== undefined || !isPlainlyShown(attribute) || !UNRESERVED_NAME.test(attribute.name))
      return []
    const { name } = attribute
    const value = valueOf(attribute)
    if (value === undefined) return []
    return ['asc', 'desc'].map(direction => ({
      key: `${name}.${direction}`,
      compare: (a, b) => value.compare(a[name], b[name]) * (direction === 'asc' ? 1 : -1),
      show: record => show(record[name]),
    }))
  })
}

function valueOf(attribute: Attribute): { readonly compare: (a: unknown, b: unknown) => number } | undefined {
  if (attribute.kind === 'toMany') return { compare: (a, b) => (a as unknown[]).length - (b as unknown[]).length }
  if (attribute.kind !== 'scalar' || !isOrdered(attribute.type)) return undefined
  return { compare: (a, b) => compareShown(attribute.type, a, b) }
}

async function checkOrder(test: Case, subject: Subject, order: VisibleOrder): Promise<void> {
  const answer = await test.read(subject.list({}, { sort: order.key, depth: 1, limit: LARGEST_PAGE }))
  const [name = ''] = order.key.split('.')
  const records = answer === undefined ? undefined : subject.recordsIn(answer.body)
  // Rules hide the value from this caller.
  if (records === undefined || records.some(record => record[name] === undefined)) return
  const at = records.findIndex((record, index) => index > 0 && order.compare(records[index - 1]!, record) > 0)
  test.check('sorted', at < 0, subject.name(name), () => {
    return `Sorted by ${order.key}, ${order.show(records[at - 1]!)} comes before ${order.show(records[at]!)}.`
  })
}
