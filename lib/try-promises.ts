/**
 * Try promises: runs a self-test in a fork of an engine, and gives a comparison with a backend what it needs to know. The modules that do
 * it are loaded with the first one.
 */
import type { Fake } from './checks/drift/check.ts'
import type { AnsweredRequest } from './checks/drift/replay.ts'
import type { SelfTestOptions } from './checks/self-test/options.ts'
import type { SelfTest } from './checks/self-test/self-test.ts'
import { copyWorld } from './engine/pipeline/assemble.ts'
import { holdAnswer } from './engine/pipeline/hold-answer.ts'
import { internalsOf } from './engine/pipeline/internals.ts'
import { readPath } from './records/request/parse-request.ts'
import { readPairs } from './records/request/parsed-query.ts'

/**
 * Tries the promises of an engine. See `engine.selfTest`.
 *
 * @param readOnly whether it is served as read-only
 */
export async function tryPromises(engine: object, options: SelfTestOptions, readOnly: boolean): Promise<SelfTest> {
  const [{ runSelfTest }, { createTestedWorld }] = await Promise.all([
    import('./checks/self-test/self-test.ts'),
    import('./checks/self-test/world.ts'),
  ])
  const { open, build } = internalsOf(engine)
  const composition = await copyWorld(open, undefined)
  // No limit of time holds up a request in process, and its journal is of no use.
  const fork = build({ ...composition, options: { ...composition.options, readOnly, journal: 0 } })
  try {
    return await runSelfTest(await createTestedWorld(internalsOf(fork).parts, user => fork.token(user)), options)
  } finally {
    await fork.close()
  }
}

/**
 * Returns what `checkAgainst` needs to know of an engine.
 *
 * @param tries whether a self-test makes the requests that the backend is asked, too
 */
export async function describeFake(engine: object, tries: boolean): Promise<Fake & { readonly readings: readonly AnsweredRequest[] }> {
  const { open } = internalsOf(engine)
  const { served, options } = open
  const versions = [...served].map(([name, { model, vocabulary }]) => ({ name, model, vocabulary }))
  const conforms: Fake['conforms'] = (request, response) => holdAnswer(internalsOf(engine).open, request, response)
  const made = tries ? (await tryPromises(engine, { runs: 4 }, true)).readings : new Map<string, never>()
  const readings = [...made].map(([target, { status, response }]): AnsweredRequest => {
    const query = readPairs(target, undefined).map(({ name, operator, value }) => [name + operator, value] as const)
    return { method: 'GET', path: readPath(target), query, status, response }
  })
  return { base: options.base, versions, envelope: options.envelope, conforms, readings }
}
