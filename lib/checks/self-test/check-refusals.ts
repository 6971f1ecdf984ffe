/** Checks that wrong parameters, paths and methods are refused. */
import { WRITE_METHODS } from '../../foundation/http/http-methods.ts'
import type { Random } from '../../engine/testing/random.ts'
import type { Case, Probe } from './probe.ts'
import { draw, type ListedFilter, type Subject } from './subject.ts'

/** A name in hardly any model. */
const NONSENSE = 'no_such_name_7'

export async function checkRefusals(probe: Probe, subject: Subject, random: Random, runs: number): Promise<void> {
  if (subject.hasList && subject.count !== undefined) await checkParameters(probe, subject, random, runs)
  await checkMethods(probe.begin(), subject.path)
  const [record] = subject.records
  const path = record === undefined ? undefined : subject.record(record)
  if (path === undefined || subject.operation('GET', subject.recordTemplate) === undefined) return
  await refuse(probe.begin(), subject, `${path}/${NONSENSE}`, 404)
  if (path !== subject.path) await checkMethods(probe.begin(), path)
  for (const { name } of draw(random, subject.resource.attributes, runs)) {
    const template = `${subject.recordTemplate}/${encodeURIComponent(name)}`
    if (subject.operation('GET', template) !== undefined) await checkMethods(probe.begin(), `${path}/${encodeURIComponent(name)}`)
  }
}

async function checkParameters(probe: Probe, subject: Subject, random: Random, runs: number): Promise<void> {
  const wrong = [
    subject.list({ [NONSENSE]: '1' }, {}),
    subject.list({}, { limit: 'many' }),
    subject.list({}, { limit: -1 }),
    subject.list({}, { offset: '1.5' }),
    subject.list({}, { sort: NONSENSE }),
    subject.list({}, { depth: 7 }),
    subject.list({}, { attributes: NONSENSE }),
    subject.list({}, { expand: NONSENSE }),
    `${subject.list({}, { limit: 1 })}&${subject.parameter('limit')}=2`,
  ]
  for (const path of wrong) await refuse(probe.begin(), subject, path, 400)
  for (const filter of draw(random, subject.filters(), runs * 4)) {
    const text = wrongValue(subject, filter)
    if (text !== undefined) await refuse(probe.begin(), subject, subject.list({ [filter.parameter]: text }, {}), 400)
  }
  const missing = `${subject.path}/${NONSENSE}`
  if (subject.operation('GET', subject.recordTemplate) !== undefined) await refuse(probe.begin(), subject, missing, 404)
}

function wrongValue(subject: Subject, filter: ListedFilter): string | undefined {
  const attribute = subject.find(filter.path)
  if (attribute?.kind !== 'scalar' || attribute.type.loose === true || attribute.type.items !== undefined) return undefined
  return ['integer', 'bigint', 'float', 'decimal', 'boolean', 'datetime', 'date', 'time', 'uuid'].includes(attribute.type.kind)
    ? 'neither-nor'
    : undefined
}

async function refuse(test: Case, subject: Subject, path: string, status: number): Promise<void> {
  const answer = await test.ask('GET', path)
  if (answer === undefined || answer.status >= 500) return
  // Access rules refuse before parameters are checked.
  const isRefused = answer.status === status || [401, 403].includes(answer.status)
  test.check(
    'refused',
    isRefused,
    subject.name(),
    () => `This request must be refused with ${status}, and is answered with ${answer.status}.`,
  )
}

async function checkMethods(test: Case, path: string): Promise<void> {
  const options = await test.ask('OPTIONS', path)
  if (options === undefined || options.status !== 204) return
  const allow = options.headers['allow'] ?? ''
  const allowed = allow.split(', ')
  test.check('methods', allow !== '', path, () => 'OPTIONS is answered without Allow.')
  for (const method of [...WRITE_METHODS].filter(each => !allowed.includes(each))) {
    const answer = await test.ask(method, path, method === 'DELETE' ? undefined : {})
    if (answer === undefined || answer.status >= 500) continue
    // Some attributes refuse a method with 400, and access rules come first.
    const isRefused = [400, 401, 403, 404, 405].includes(answer.status)
    test.check('methods', isRefused, path, () => `Allow is "${allow}", and ${method} is answered with ${answer.status}.`)
    if (answer.status === 405)
      test.check('methods', answer.headers['allow'] === allow, path, () => {
        return `The Allow of OPTIONS is "${allow}", and that of the refused ${method} "${answer.headers['allow'] ?? ''}".`
      })
  }
}
