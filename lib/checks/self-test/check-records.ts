/**
 * Checks that a record reads alike in lists, by path, by HEAD, and with `depth`, `expand` and `attributes`; also the paths of attributes.
 */
import { isRelation, isValue, type Attribute } from '../../model/model.ts'
import type { Random } from '../../engine/testing/random.ts'
import type { Case, Probe } from './probe.ts'
import { draw, type Subject } from './subject.ts'
import { findLinkedId, isDeepEqual, isPlainlyShown, show, type PlainRecord } from './values.ts'

export async function checkRecords(probe: Probe, subject: Subject, random: Random, runs: number): Promise<void> {
  if (subject.operation('GET', subject.recordTemplate) === undefined) return
  for (const listed of draw(random, subject.records, runs)) {
    const path = subject.record(listed)
    if (path === undefined) continue
    const test = probe.begin()
    await test.read(subject.list({}, { depth: 1, limit: subject.records.length }))
    const record = await checkRecord(test, subject, listed, path)
    if (record === undefined) continue
    for (const attribute of draw(random, subject.resource.attributes, runs * 2))
      await checkAttribute(probe.begin(), subject, record, attribute, path)
    await checkSelection(probe.begin(), subject, record, path, random)
  }
}

async function checkRecord(test: Case, subject: Subject, listed: PlainRecord, path: string): Promise<PlainRecord | undefined> {
  const answer = await test.ask('GET', subject.list({}, { depth: 1 }, path))
  if (answer === undefined) return undefined
  test.check('read', answer.isOk, subject.name(), () => {
    return (
      `The list shows the record ${path}, and a GET of it is refused with ${answer.status}: ` +
      'what may not be read alone can be read in the list.'
    )
  })
  if (!answer.isOk) return undefined
  const record = subject.recordIn(answer.body)
  if (record === undefined) return undefined
  for (const attribute of subject.resource.attributes) {
    const { name } = attribute
    if (!isPlainlyShown(attribute) || listed[name] === undefined || record[name] === undefined) continue
    test.check('read', isDeepEqual(listed[name], record[name]), subject.name(name), () => {
      return `The record ${path} has ${show(listed[name])} in the list, and ${show(record[name])} by its own path.`
    })
  }
  const head = await test.ask('HEAD', subject.list({}, { depth: 1 }, path))
  if (head !== undefined)
    test.check('read', head.status === answer.status, subject.name(), () => `GET of ${path} is ${answer.status}, HEAD is ${head.status}.`)
  return record
}

async function checkAttribute(test: Case, subject: Subject, record: PlainRecord, attribute: Attribute, at: string): Promise<void> {
  const { name } = attribute
  const template = `${subject.recordTemplate}/${encodeURIComponent(name)}`
  if (!isPlainlyShown(attribute) || attribute.flag !== undefined || subject.operation('GET', template) === undefined) return
  const shown = record[name]
  if (shown === undefined) return
  const path = `${at}/${encodeURIComponent(name)}`
  const answer = await test.ask('GET', path)
  if (answer?.isOk !== true) return
  const body = answer.body as Readonly<Record<string, unknown>>
  const where = subject.name(name)
  if (isValue(attribute)) {
    test.check('read', isDeepEqual(body['value'], shown), where, () => {
      return `The record ${at} has ${show(shown)}, and the path of the attribute ${show(body['value'])}.`
    })
  } else if (attribute.kind === 'toMany') {
    const { count } = body
    test.check('read', count === (shown as unknown[]).length, where, () => {
      return `The record ${at} shows ${(shown as unknown[]).length} related records, and the path of the list counts ${show(count)}.`
    })
  } else if (attribute.kind === 'toOne') {
    const linked = body[String(body['resource'])]
    const [expected, found] = [findLinkedId(shown, attribute.target), findLinkedId(linked, attribute.target)]
    // The linked record may hide its key.
    const isAlike = expected === found || (found === undefined && linked !== null)
    test.check('read', isAlike, where, () => `The record ${at} links ${show(shown)}, and the path of the relation gives ${show(linked)}.`)
  }
}

async function checkSelection(test: Case, subject: Subject, record: PlainRecord, at: string, random: Random): Promise<void> {
  const { attributes } = subject.resource
  const relations = attributes.filter(each => isRelation(each) && isPlainlyShown(each) && record[each.name] !== undefined)
  const names = Object.keys(record).filter(name => /^[\w-]+$/.test(name) && subject.resource.byName.has(name))
  const read = async (reserved: Parameters<Subject['list']>[1]): Promise<PlainRecord | undefined> => {
    const answer = await test.read(subject.list({}, reserved, at))
    return answer === undefined ? undefined : subject.recordIn(answer.body)
  }
  const isOpen = Object.keys(subject.resource.rules.wrappers).length > 0
  if (names.length > 0 && !isOpen) {
    const name = random.pick(names)
    const only = await read({ attributes: name, depth: 1 })
    const shown = only === undefined ? [] : Object.keys(only)
    test.check(
      'selected',
      only === undefined || shown.join() === name,
      subject.name(name),
      () => `attributes=${name} shows ${shown.join(', ') || 'nothing'}.`,
    )
    const without = await read({ attributes: `!${name}`, depth: 1 })
    test.check(
      'selected',
      without === undefined || !Object.hasOwn(without, name),
      subject.name(name),
      () => `attributes=!${name} shows it.`,
    )
  }
  if (relations.length === 0) return
  const flat = await read({ depth: 0 })
  const left = relations.find(
    ({ name }) => flat !== undefined && Object.hasOwn(flat, name) && !subject.resource.rules.expand.includes(name),
  )
  test.check('selected', left === undefined, subject.name(left?.name), () => 'depth=0 shows this relation.')
  await read({ depth: 2 })
  const { name } = random.pick(relations)
  const whole = await read({ depth: 1, expand: name })
  const value = whole?.[name]
  const isExpanded = value === undefined || value === null || [value].flat().every(each => typeof each === 'object')
  test.check('selected', isExpanded, subject.name(name), () => `expand=${name} shows ${show(value)}, not records.`)
}
