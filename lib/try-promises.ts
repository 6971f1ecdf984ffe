/** Runs a self-test in a fork, and describes an engine for the comparison with a backend. */
import type { Fake } from './checks/drift/check.ts'
import type { AnsweredRequest } from './checks/drift/replay.ts'
import type { SelfTestOptions } from './checks/self-test/options.ts'
import type { SelfTest } from './checks/self-test/self-test.ts'
import { copyWorld } from './engine/assembly/assemble.ts'
import { holdAnswer } from './engine/assembly/hold-answer.ts'
import { internalsOf } from './engine/assembly/internals.ts'
import { isGroup } from './records/request/filter-groups.ts'
import { readPath } from './records/request/parse-request.ts'
import { readPairs } from './records/request/parsed-query.ts'

/** @param readOnly tries the promises of a read-only API */
export async function tryPromises(engine: object, options: SelfTestOptions, readOnly: boolean): Promise<SelfTest> {
  const [{ runSelfTest }, { createTestedWorld }] = await Promise.all([
    import('./checks/self-test/self-test.ts'),
    import('./checks/self-test/world.ts'),
  ])
  const { open, build } = internalsOf(engine)
  const composition = await copyWorld(open, undefined)
  // Nobody reads the journal.
  const fork = build({ ...composition, options: { ...composition.options, readOnly, journal: 0 } })
  try {
    return await runSelfTest(await createTestedWorld(internalsOf(fork).parts, user => fork.token(user)), options)
  } finally {
    await fork.close()
  }
}

/** @param tries a self-test makes requests for the backend, too */
export async function describeFake(engine: object, tries: boolean): Promise<Fake & { readonly readings: readonly AnsweredRequest[] }> {
  const { open } = internalsOf(engine)
  const { served, options } = open
  const versions = [...served].map(([name, { model, vocabulary }]) => ({ name, model, vocabulary }))
  const conforms: Fake['conforms'] = (request, response) => holdAnswer(internalsOf(engine).open, request, response)
  const made = tries ? (await tryPromises(engine, { runs: 4 }, true)).readings : new Map<string, never>()
  const readings = [...made].flatMap(([target, { status, response }]): AnsweredRequest[] => {
    const pairs = readPairs(target, undefined)
    // Each filter is asked alone.
    if (pairs.some(({ name }) => isGroup(name))) return []
    const query = pairs.map(({ name, operator, value }) => [name + operator, value] as const)
    return [{ method: 'GET', path: readPath(target), query, status, response }]
  })
  return { base: options.base, versions, envelope: options.envelope, conforms, readings }
}
