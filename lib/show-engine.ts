/** Lists the engines of this process at the port of `MIKRO_REST_WORKBENCH`, each with a workbench. Loads nothing without the variable. */
import type { WorldEngine } from './doors/server/controls/world-engine.ts'
import { runtime } from './foundation/runtime/runtime.ts'

interface ShownEngines {
  show(engine: WorldEngine, stack: string): void
}

let engines: Promise<ShownEngines> | undefined

export function showsEngines(): boolean {
  return (runtime.environment['MIKRO_REST_WORKBENCH'] ?? '') !== ''
}

/**
 * @param below called by the application: its caller is the place of the engine's making
 * @throws RangeError for a malformed variable; the error of `make`
 */
export async function makeShown<E extends object>(make: () => Promise<E>, below: (...given: never[]) => unknown): Promise<E> {
  const at: { stack?: string } = {}
  Error.captureStackTrace(at, below)
  // Before any await: the text is made at the first reading.
  const { stack = '' } = at
  const shown = await (engines ??= loadEngines())
  const engine = await make()
  shown.show(engine as WorldEngine, stack)
  return engine
}

async function loadEngines(): Promise<ShownEngines> {
  const { EnginesOfProcess } = await import('./doors/engines/engines-of-process.ts')
  return new EnginesOfProcess(runtime.environment)
}
