/**
 * Finds the internals of an engine object, which shows only public members, even at run time. Loads nothing: the command refuses a wrong
 * command line without the engine.
 */
import type { EngineInternals } from './engine-internals.ts'

const KNOWN = new WeakMap<object, EngineInternals>()

export function keepInternals(engine: object, internals: EngineInternals): void {
  KNOWN.set(engine, internals)
}

/** `undefined` for an engine of another copy of the package, too. */
export function findInternals(engine: unknown): EngineInternals | undefined {
  return typeof engine === 'object' && engine !== null ? KNOWN.get(engine) : undefined
}

export function internalsOf(engine: object): EngineInternals {
  const found = findInternals(engine)
  if (found === undefined)
    throw new TypeError('This is not an engine of this copy of mikro-rest: one is made by "await RestEngine.create(...)".')
  return found
}
