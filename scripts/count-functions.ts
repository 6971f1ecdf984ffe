/**
 * Count functions: how many functions of `lib/`, in how many files, one request runs: warm, and by a cached plan. Counted by V8, which
 * takes the initialisers of a class's fields for a function each. No time is measured, so that a busy machine changes nothing.
 *
 *     npm run bench:functions
 *     npm run bench:functions -- --list patch          the functions of one case, by file, and how often each is called
 *     npm run bench:functions -- --list patch-scope
 *     npm run bench:functions -- --json                for programs
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { Session } from 'node:inspector'
import type { Profiler } from 'node:inspector'
import { setImmediate as turn } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine, resource } from '../lib/index.ts'

const LIB = new URL('../lib/', import.meta.url)
/** Requests before the one that is counted. */
const WARM_UP = 30
const USERS = 100

type Send = (engine: RestEngine, call: number) => Promise<{ readonly status: number; readonly body: unknown }>

const User = defineEntity({
  name: 'User',
  properties: { id: p.integer().primary(), name: p.string(), email: p.string(), score: p.integer(), team: p.integer().nullable() },
})

const newUser = (call: number): Record<string, unknown> => ({ name: `New ${call}`, email: `new${call}@example.test`, score: call, team: 1 })

/** Requests that differ in values alone; each is answered with 200. */
const REQUESTS: Readonly<Record<string, Send>> = {
  get: (engine, call) => engine.handle('GET', `/v1/users/${userOf(call)}`),
  // The same text each time: a query that comes again is not parsed again.
  list: engine => engine.handle('GET', '/v1/users?score>=10&team=1&sort=name.desc&limit=10'),
  patch: (engine, call) => engine.handle('PATCH', `/v1/users/${userOf(call)}`, undefined, { name: `Name ${call}` }),
  post: (engine, call) => engine.handle('POST', '/v1/users', undefined, newUser(call)),
  delete: (engine, call) => engine.handle('DELETE', `/v1/users/${userOf(call)}`),
}

/** A user, another one for each call. */
function userOf(call: number): number {
  return call + 1
}

interface CountedFunction {
  readonly file: string
  readonly line: number
  readonly name: string
  readonly calls: number
}

async function createWorld(isScoped: boolean): Promise<RestEngine> {
  const resources = isScoped ? [resource(User, { scope: () => ({ team: 1 }) })] : []
  const seed = { users: Array.from({ length: USERS }, (_, index) => newUser(index)) }
  return RestEngine.create({ entities: [User], resources, seed })
}

/** Runs a request often, and returns the functions that the last one has run. */
async function countFunctions(send: Send, isScoped: boolean): Promise<CountedFunction[]> {
  await using engine = await createWorld(isScoped)
  const session = new Session()
  session.connect()
  session.post('Profiler.enable')
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  for (let call = 0; call < WARM_UP; call++) await answer(send, engine, call)
  takeCoverage(session)
  await answer(send, engine, WARM_UP)
  const scripts = takeCoverage(session)
  session.disconnect()
  return scripts.filter(({ url }) => url.startsWith(LIB.href)).flatMap(ranOf)
}

async function answer(send: Send, engine: RestEngine, call: number): Promise<void> {
  const { status, body } = await send(engine, call)
  assert.equal(status, 200, JSON.stringify(body))
  // What a request leaves for later is part of it.
  await turn()
}

/** Returns what has run since it was asked last. The session answers at once. */
function takeCoverage(session: Session): readonly Profiler.ScriptCoverage[] {
  let taken: readonly Profiler.ScriptCoverage[] = []
  session.post('Profiler.takePreciseCoverage', (error, { result }) => {
    if (error !== null) throw error
    taken = result
  })
  return taken
}

function ranOf({ url, functions }: Profiler.ScriptCoverage): CountedFunction[] {
  const ran = functions.filter(({ ranges }) => ranges[0]!.count > 0)
  if (ran.length === 0) return []
  const source = readFileSync(fileURLToPath(url), 'utf8')
  return ran.map(({ functionName, ranges: [range] }) => ({
    file: url.slice(LIB.href.length),
    line: source.slice(0, range!.startOffset).split('\n').length,
    name: functionName === '' ? '(anonymous)' : functionName,
    calls: range!.count,
  }))
}

interface Counts {
  readonly functions: number
  readonly files: number
}

function countsOf(counted: readonly CountedFunction[]): Counts {
  return { functions: counted.length, files: Map.groupBy(counted, ({ file }) => file).size }
}

function printFunctions(counted: readonly CountedFunction[]): void {
  for (const [file, own] of Map.groupBy(counted, each => each.file)) {
    console.log(`${file} (${own.length})`)
    for (const { line, name, calls } of own) console.log(`  ${String(line).padStart(4)} ${name}${calls === 1 ? '' : ` x${calls}`}`)
  }
}

const CASES = Object.entries(REQUESTS).flatMap(([name, send]) => [
  { name, send, isScoped: false },
  { name: `${name}-scope`, send, isScoped: true },
])

const { values } = parseArgs({ options: { list: { type: 'string' }, json: { type: 'boolean' } } })
if (values.list !== undefined) {
  const listed = CASES.find(({ name }) => name === values.list)
  if (listed === undefined) throw new Error(`There is no case "${values.list}". There are: ${CASES.map(({ name }) => name).join(', ')}.`)
  const counted = await countFunctions(listed.send, listed.isScoped)
  printFunctions(counted)
  const { functions, files } = countsOf(counted)
  console.log(`${functions} functions in ${files} files`)
} else {
  const counts: Record<string, Counts> = {}
  for (const { name, send, isScoped } of CASES) counts[name] = countsOf(await countFunctions(send, isScoped))
  if (values.json === true) console.log(JSON.stringify(counts))
  else console.table(counts)
}
