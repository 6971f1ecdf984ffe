/**
 * Show engine: where the variable `MIKRO_REST_WORKBENCH` names a port, the engines of this process are shown in a list there, each with its
 * workbench. Without it nothing is loaded for that.
 */
import type { WorldEngine } from './doors/server/controls/world-engine.ts'

/** The list that engines are shown in. See `EnginesOfProcess`. */
interface ShownEngines {
  show(engine: WorldEngine, stack: string): void
}

let engines: Promise<ShownEngines> | undefined

/** Whether engines are shown. */
export function showsEngines(): boolean {
  return (process.env['MIKRO_REST_WORKBENCH'] ?? '') !== ''
}

/**
 * Makes an engine, and shows it.
 *
 * @param below the function that the application has called: its caller is the place where the engine is made
 * @throws RangeError for variables that are not of their form; what the engine cannot be made by.
 */
export async function makeShown<E extends object>(make: () => Promise<E>, below: (...given: never[]) => unknown): Promise<E> {
  const at: { stack?: string } = {}
  Error.captureStackTrace(at, below)
  // The text is made when it is first read: before anything is awaited.
  const { stack = '' } = at
  const known = await (engines ??= loadEngines())
  const engine = await make()
  known.show(engine as WorldEngine, stack)
  return engine
}

async function loadEngines(): Promise<ShownEngines> {
  const { EnginesOfProcess } = await import('./doors/engines/engines-of-process.ts')
  return new EnginesOfProcess(process.env)
}
