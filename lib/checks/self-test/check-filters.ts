/** Checks that a filter and its complement split a list, with values of existing records. */
import { findMeaning } from './filter-meaning.ts'
import type { Random } from '../../engine/testing/random.ts'
import type { Case, Probe } from './probe.ts'
import { LARGEST_PAGE, draw, type ListedFilter, type Subject } from './subject.ts'
import { SIGN_OF_MARK } from '../../records/request/operators.ts'
import { isObject } from '../../foundation/json/json.ts'
import { findId, findLinkedId, isPlainlyShown, show, toFilterText, type PlainRecord } from './values.ts'

interface TriedFilter extends ListedFilter {
  readonly text: string
  /** As shown; of a linked record, the ID. */
  readonly value: unknown
}

export async function checkFilters(probe: Probe, subject: Subject, random: Random, runs: number): Promise<void> {
  if (subject.count === undefined || subject.records.length === 0) return
  let last: CountedFilter | undefined
  for (const filter of draw(random, subject.filters(), runs * 6)) {
    const given = await giveValue(probe.begin(), subject, filter, random)
    if (given === undefined) continue
    const count = await checkSplit(probe.begin(), subject, given)
    if (count === undefined) continue
    const counted = { ...given, count }
    if (last !== undefined && last.parameter !== given.parameter) await checkGroup(probe.begin(), subject, last, counted)
    last = counted
  }
}

interface CountedFilter extends TriedFilter {
  readonly count: number
}

/** Compares `(a=1|b=2)` with `a=1`, `b=2`, both together, and `!(a=1|b=2)`. */
async function checkGroup(test: Case, subject: Subject, one: CountedFilter, other: CountedFilter): Promise<void> {
  const group = `(${writeCondition(one)}|${writeCondition(other)})`
  const any = await countGroup(test, subject, group)
  const none = await countGroup(test, subject, `!${group}`)
  const both = await readPart(test, subject, { [one.parameter]: one.text, [other.parameter]: other.text })
  if (any === undefined || none === undefined || both === undefined) return
  const where = subject.name(other.path.join('.'))
  test.check('filtered', any + both.count === one.count + other.count, where, () => {
    const [first, second] = [one, other].map(each => `${each.count} meet ${each.parameter}=${each.text}`)
    return `${any} records meet ${group}, but ${first}, ${second}, and ${both.count} meet both.`
  })
  const { count: total = 0 } = subject
  test.check('filtered', any + none === total, where, () => {
    return `${any} records meet ${group} and ${none} meet its complement; together they must be all ${total}.`
  })
}

function writeCondition({ parameter, mark, text }: TriedFilter): string {
  const path = mark === '' ? parameter : parameter.slice(0, -1)
  return `${escapeMarks(path)}${mark}=${escapeMarks(text)}`
}

function escapeMarks(text: string): string {
  return text.replaceAll(/\\.|[|;()]/gs, found => (found.length > 1 ? found : `\\${found}`))
}

async function countGroup(test: Case, subject: Subject, group: string): Promise<number | undefined> {
  const answer = await test.read(`${subject.path}?${encodeURIComponent(group)}&${subject.parameter('limit')}=0`)
  return answer === undefined ? undefined : (answer.body as { readonly count: number }).count
}

async function giveValue(test: Case, subject: Subject, filter: ListedFilter, random: Random): Promise<TriedFilter | undefined> {
  const attribute = subject.find(filter.path)
  if (attribute === undefined) return undefined
  const shown = await readValue(test, subject, filter, random)
  if (shown === undefined) return undefined
  if (attribute.kind === 'toMany') {
    const [first] = Array.isArray(shown) ? (shown as unknown[]) : []
    const id = first === undefined ? undefined : findLinkedId(first, attribute.target)
    return id === undefined ? { ...filter, text: 'null', value: null } : { ...filter, text: escapeId(id), value: id }
  }
  if (attribute.kind === 'toOne') {
    const id = findLinkedId(shown, attribute.target)
    return id === undefined ? { ...filter, text: 'null', value: null } : { ...filter, text: escapeId(id), value: id }
  }
  if (attribute.kind !== 'scalar') return undefined
  if (shown === null && (filter.mark === '>' || filter.mark === '<')) return undefined
  // Only the application knows filters on custom types.
  if (['json', 'jsonValue', 'blob', 'array', 'custom'].includes(attribute.type.kind)) return undefined
  if (shown === '' && attribute.type.kind !== 'text') return undefined
  const text = toFilterText(shown, attribute.type)
  return text === undefined ? undefined : { ...filter, text, value: shown }
}

function escapeId(id: string): string {
  return id === 'null' ? String.raw`\null` : id.replaceAll(/[\\,*=]/g, String.raw`\$&`)
}

async function readValue(test: Case, subject: Subject, { path }: ListedFilter, random: Random): Promise<unknown> {
  const record = random.pick(subject.records)
  let value: unknown = record
  let attribute = subject.find(path.slice(0, 1))
  for (const [index, name] of path.entries()) {
    attribute = subject.find(path.slice(0, index + 1))
    if (attribute === undefined || !isPlainlyShown(attribute)) return undefined
    const isLast = index === path.length - 1
    value = isObject(value) ? value[name] : undefined
    if (value === undefined || value === null) return value === null && isLast ? null : undefined
    if (attribute.kind === 'toOne' && !isLast && !isObject(value)) {
      if (index > 0) return undefined
      // A single expanded record is enough.
      const at = subject.record(record)
      const answer = at === undefined ? undefined : await test.read(subject.list({}, { expand: name, depth: 1 }, at))
      value = answer === undefined ? undefined : subject.recordIn(answer.body)?.[name]
    }
  }
  return value
}

interface PartOfList {
  readonly count: number
  readonly ids: readonly string[]
  readonly records: readonly PlainRecord[]
}

async function readPart(test: Case, subject: Subject, filters: Readonly<Record<string, string>>): Promise<PartOfList | undefined> {
  const answer = await test.read(subject.list(filters, { depth: 1, limit: LARGEST_PAGE }))
  const records = answer === undefined ? undefined : subject.recordsIn(answer.body)
  if (records === undefined) return undefined
  const ids = records.flatMap(record => findId(record, subject.resource) ?? [])
  return { count: (answer!.body as { readonly count: number }).count, ids, records }
}

async function checkSplit(test: Case, subject: Subject, filter: TriedFilter): Promise<number | undefined> {
  const { parameter, text } = filter
  const name = `${parameter}=${text}`
  const where = subject.name(filter.path.join('.'))
  const refused = await test.ask('GET', subject.list({ [parameter]: text }, { limit: 0 }))
  if (refused === undefined) return undefined
  test.check('filtered', refused.isOk, where, () => `The filter ${name} has the value of a record, and is refused with ${refused.status}.`)
  if (!refused.isOk) return undefined
  const part = await readPart(test, subject, { [parameter]: text })
  const rest = await readPart(test, subject, { [`!${parameter}`]: text })
  if (part === undefined || rest === undefined) return undefined
  const { count: total = 0 } = subject
  test.check('filtered', part.count + rest.count === total, where, () => {
    return `${part.count} records meet ${name} and ${rest.count} meet its complement; together they must be all ${total}.`
  })
  const both = part.ids.find(id => rest.ids.includes(id))
  test.check('filtered', both === undefined, where, () => `The record ${both} meets ${name} and its complement, too.`)
  checkMembers(test, subject, filter, part, rest)
  if (filter.mark === '>' || filter.mark === '<') await checkRange(test, subject, filter, part)
  return part.count
}

function checkMembers(test: Case, subject: Subject, filter: TriedFilter, part: PartOfList, rest: PartOfList): void {
  const attribute = subject.find(filter.path)
  if (attribute === undefined || filter.path.length !== 1) return
  const [name = ''] = filter.path
  const meets = findMeaning(attribute, SIGN_OF_MARK[filter.mark], filter.value)
  if (meets === undefined) return
  const where = subject.name(name)
  const written = `${filter.parameter}=${filter.text}`
  for (const [records, isMet] of [
    [part.records, true],
    [rest.records, false],
  ] as const) {
    const wrong = records.find(record => record[name] !== undefined && meets(record[name]) !== isMet)
    test.check('filtered', wrong === undefined, where, () => {
      const id = findId(wrong!, subject.resource)
      return `The record ${id} has ${show(wrong![name])}, and is ${isMet ? '' : 'not '}found by ${written}.`
    })
  }
}

/** Records with at least a value, with less and with NULL must make up the list. */
async function checkRange(test: Case, subject: Subject, filter: TriedFilter, part: PartOfList): Promise<void> {
  const { parameter, text, mark } = filter
  const written = parameter.slice(0, -1)
  // The complement of `age<=` is `age>` without `=`.
  const other = mark === '>' ? '<' : '>'
  const query = [written, other, text].map(encodeURIComponent).join('')
  const path = `${subject.path}?${query}&${subject.parameter('limit')}=0`
  const beyond = await test.read(path)
  const empty = await readPart(test, subject, { [written]: 'null' })
  if (beyond === undefined || empty === undefined) return
  const count = (beyond.body as { readonly count: number }).count
  const { count: total = 0 } = subject
  test.check('filtered', part.count + count + empty.count === total, subject.name(filter.path.join('.')), () => {
    return (
      `${part.count} records meet ${parameter}=${text}, ${count} meet ${written}${other}${text} and ${empty.count} have no value; ` +
      `together they must be all ${total}.`
    )
  })
}
