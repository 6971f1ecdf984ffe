/**
 * Internals: finds what the rest of the library asks of an engine (engine-internals.ts). It is kept beside the engine, which so has no
 * member that is not public, at run time either. It loads nothing: the command refuses a wrong command line without the engine.
 */
import type { EngineInternals } from './engine-internals.ts'

const KNOWN = new WeakMap<object, EngineInternals>()

export function keepInternals(engine: object, internals: EngineInternals): void {
  KNOWN.set(engine, internals)
}

/** Returns the internals of an engine; undefined for anything else, as an engine of another copy of the package is. */
export function findInternals(engine: unknown): EngineInternals | undefined {
  return typeof engine === 'object' && engine !== null ? KNOWN.get(engine) : undefined
}

/** @throws TypeError for what is not an engine. */
export function internalsOf(engine: object): EngineInternals {
  const found = findInternals(engine)
  if (found === undefined)
    throw new TypeError('This is not an engine of this copy of mikro-rest: one is made by "await RestEngine.create(...)".')
  return found
}
