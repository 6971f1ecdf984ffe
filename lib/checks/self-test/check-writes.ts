/**
 * Creates, changes and deletes records, and tries wrong bodies. Each case restores the world first, so that its requests alone repeat a
 * failure.
 */
import type { Random } from '../../engine/testing/random.ts'
import { listWrongBodies, makeBody, makeChange, type BodyMaker } from './bodies.ts'
import { describeFailure, type Case, type Probe, type ProbeAnswer } from './probe.ts'
import { draw, type Subject } from './subject.ts'
import { isAsSent, isDeepEqual, isPlainlyShown, show, type PlainRecord } from './values.ts'

interface Writing {
  readonly probe: Probe
  readonly maker: BodyMaker
  readonly random: Random
  readonly runs: number
  readonly begin: () => Promise<Case>
  readonly ignored: ReadonlySet<string>
  readonly skip: (sentence: string) => void
}

/** Refused bodies before the POST is skipped. */
const TRIES = 6

export async function checkWrites(writing: Writing, subject: Subject): Promise<void> {
  const { runs } = writing
  if (subject.operation('POST', subject.template) !== undefined) {
    for (let run = 0; run < runs; run++) {
      const good = await checkCreation(writing, subject)
      if (good === undefined) break
      if (run === 0) await checkWrongBodies(writing, subject, good)
    }
  }
  for (const record of draw(writing.random, subject.records, runs)) await checkChange(writing, subject, record)
  for (const record of draw(writing.random, subject.records, runs)) {
    const path = subject.record(record)
    const test = path === undefined ? undefined : await writing.begin()
    if (test !== undefined) await checkDeletion(test, subject, path!)
  }
}

async function checkCreation(writing: Writing, subject: Subject): Promise<Record<string, unknown> | undefined> {
  let refusal = 'the model needs a value that cannot be made up'
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const test = await writing.begin()
    let body: Record<string, unknown>
    try {
      body = await makeBody(writing.maker, subject.resource, writing.random, attempt % 3 === 2 ? 'objects' : 'ids')
    } catch (error) {
      refusal = (error as Error).message
      continue
    }
    const answer = await test.ask('POST', subject.creation({ depth: 1 }), subject.wrap(body))
    if (answer === undefined || !answer.isOk) {
      refusal = answer === undefined ? 'it got no answer' : `${answer.status} ${describeFailure(answer.body)}`
      continue
    }
    await checkCreated(writing, test, subject, body, answer)
    return body
  }
  writing.skip(`POST ${subject.path}: none of ${TRIES} generated bodies was accepted; the last one: ${refusal}`)
  return undefined
}

async function checkCreated(writing: Writing, test: Case, subject: Subject, body: PlainRecord, answer: ProbeAnswer): Promise<void> {
  const created = subject.recordIn(answer.body)
  if (created === undefined) return
  checkSent({ writing, test, subject, check: 'created' }, body, created, 'the answer')
  const location = answer.headers['location']
  const path = subject.record(created) ?? location
  if (path === undefined || subject.operation('GET', subject.recordTemplate) === undefined) return
  test.check('created', location === undefined || location === path, subject.name(), () => {
    return `Location is ${location}, and the path of the new record is ${path}.`
  })
  const read = await test.ask('GET', subject.list({}, { depth: 1 }, path))
  const record = read?.isOk === true ? subject.recordIn(read.body) : undefined
  // A scope may hide the new record.
  const mayHide = subject.resource.rules.scopes.length > 0 && read?.status === 404
  test.check('created', record !== undefined || mayHide, subject.name(), () => {
    return `The new record ${path} cannot be read: ${read === undefined ? 'no answer' : `${read.status} ${describeFailure(read.body)}`}.`
  })
  if (record === undefined) return
  checkSent({ writing, test, subject, check: 'created' }, body, record, 'a GET')
  if (subject.count !== undefined) {
    const list = await test.read(subject.list({}, { limit: 0 }))
    const count = list === undefined ? undefined : (list.body as { readonly count: number }).count
    test.check('created', count === undefined || count > subject.count, subject.name(), () => {
      return `The list counts ${count} records after a record was created, and ${subject.count} before.`
    })
  }
  await checkDeletion(test, subject, path)
}

interface WritePlace {
  readonly writing: Writing
  readonly test: Case
  readonly subject: Subject
  readonly check: 'created' | 'changed'
}

function checkSent({ writing: { ignored }, test, subject, check }: WritePlace, body: PlainRecord, shown: PlainRecord, by: string): void {
  for (const [name, sent] of Object.entries(body)) {
    const attribute = subject.resource.byName.get(name)
    if (attribute === undefined || !isPlainlyShown(attribute) || attribute.readOnly || shown[name] === undefined) continue
    if (ignored.has(subject.name(name)) || (attribute.kind === 'scalar' && attribute.version)) continue
    test.check(check, isAsSent(attribute, sent, shown[name]), subject.name(name), () => {
      return `${show(sent)} was sent, and ${by} shows ${show(shown[name])}.`
    })
  }
}

async function checkWrongBodies(writing: Writing, subject: Subject, good: Record<string, unknown>): Promise<void> {
  const operation = subject.operation('POST', subject.template)!
  for (const { body, attribute, mistake } of listWrongBodies(good, operation, subject)) {
    const test = await writing.begin()
    const answer = await test.ask('POST', subject.path, body)
    if (answer === undefined || answer.status >= 500) continue
    const where = attribute === '' ? subject.name() : subject.name(attribute)
    test.check('refused', !answer.isOk, where, () => `A POST ${mistake} must be refused, and is answered with ${answer.status}.`)
    if (answer.isOk || subject.count === undefined) continue
    const { errors = [] } = answer.body as { readonly errors?: readonly { readonly attribute?: string }[] }
    const isNamed = errors.length === 0 || attribute === '' || errors.some(each => each.attribute?.split('.')[0] === attribute)
    test.check('refused', isNamed, where, () => `A POST ${mistake} is refused without the name of the attribute: ${show(errors)}.`)
    const list = await test.read(subject.list({}, { limit: 0 }))
    const count = list === undefined ? subject.count : (list.body as { readonly count: number }).count
    test.check('refused', count === subject.count, where, () => {
      return `A POST ${mistake} is refused, and the list counts ${count} records, not ${subject.count} as before.`
    })
  }
}

async function checkChange(writing: Writing, subject: Subject, record: PlainRecord): Promise<void> {
  const path = subject.record(record)
  if (path === undefined || subject.operation('PUT', subject.recordTemplate) === undefined) return
  const body = makeChange(writing.maker, subject.resource, record, writing.random)
  if (Object.keys(body).length === 0) return
  const test = await writing.begin()
  const answer = await test.ask('PUT', subject.list({}, { depth: 1 }, path), subject.wrap(body))
  // A refused change must leave the record unchanged.
  const read = await test.ask('GET', subject.list({}, { depth: 1 }, path))
  const shown = read?.isOk === true ? subject.recordIn(read.body) : undefined
  if (answer === undefined || shown === undefined) return
  if (answer.isOk) {
    const changed = subject.recordIn(answer.body)
    if (changed !== undefined) checkSent({ writing, test, subject, check: 'changed' }, body, changed, 'the answer')
    checkSent({ writing, test, subject, check: 'changed' }, body, shown, 'a GET')
    checkOthers({ writing, test, subject, check: 'changed' }, record, shown, body)
  } else {
    checkOthers({ writing, test, subject, check: 'changed' }, record, shown, {})
  }
}

/** Attributes outside the body must keep their values. */
function checkOthers({ writing, test, subject, check }: WritePlace, before: PlainRecord, after: PlainRecord, body: PlainRecord): void {
  for (const attribute of subject.resource.attributes) {
    const { name } = attribute
    const isFixed = attribute.kind === 'scalar' && attribute.source.kind === 'column' && !attribute.source.generated && !attribute.version
    if (!isFixed || Object.hasOwn(body, name) || !isPlainlyShown(attribute) || writing.ignored.has(subject.name(name))) continue
    if (writing.maker.isSetOnUpdate(subject.resource, attribute) || before[name] === undefined || after[name] === undefined) continue
    test.check(check, isDeepEqual(before[name], after[name]), subject.name(name), () => {
      return `It was ${show(before[name])} before a PUT that does not name it, and is ${show(after[name])} afterwards.`
    })
  }
}

async function checkDeletion(test: Case, subject: Subject, path: string): Promise<void> {
  if (subject.operation('DELETE', subject.recordTemplate) === undefined) return
  const before = await test.read(subject.list({}, { limit: 0 }))
  const answer = await test.ask('DELETE', path)
  const read = await test.ask('GET', path)
  if (answer === undefined || read === undefined || [401, 403].includes(read.status)) return
  const after = await test.read(subject.list({}, { limit: 0 }))
  const [counted, left] = [before, after].map(each => (each?.body as { readonly count?: number } | undefined)?.count)
  if (!answer.isOk) {
    // A scope may hide a record that still exists.
    const isThere = read.isOk || subject.resource.rules.scopes.length > 0
    test.check('deleted', isThere || answer.status === 404, subject.name(), () => {
      return `The DELETE of ${path} is refused with ${answer.status}, and the record is gone (${read.status}).`
    })
    return
  }
  test.check('deleted', read.status === 404, subject.name(), () => {
    return `The DELETE of ${path} is answered with ${answer.status}, and a GET of it with ${read.status}, not 404.`
  })
  if (counted === undefined || left === undefined) return
  test.check(
    'deleted',
    left < counted,
    subject.name(),
    () => `The list counts ${counted} records before the DELETE of ${path}, and ${left} afterwards.`,
  )
}
