/**
 * The messages between a child of `--watch` and the watching process. A new child beside the serving child is a trial: reports whether the
 * model can be served, and begins after the end of the serving child.
 */
import type { RestEngine } from '../../engine.ts'
import { internalsOf } from '../../engine/assembly/internals.ts'
import type { ChangeSink } from '../../records/database/changes.ts'

export const KEPT = 'MIKRO_REST_KEPT'
export const TRIAL = 'MIKRO_REST_TRIAL'

export interface ChildReport {
  readonly port?: number
  /** The hash of content about to be saved. */
  readonly saved?: string
  readonly reached?: readonly string[]
  readonly database?: string
  /** The trial can serve. */
  readonly isReady?: true
  /** Why the trial cannot serve. */
  readonly refused?: string
  /** Data have changed since the refusal of a trial. */
  readonly isChanged?: true
}

export interface ParentOrder {
  readonly begin?: true
  /** Why a trial has failed; null: mended. */
  readonly refusal?: string | null
}

/** Milliseconds: changes of data in this time are told once. */
const TOGETHER = 200

export function isWatched(): boolean {
  return process.env[KEPT] !== undefined && process.send !== undefined && process.connected
}

export function isTrial(): boolean {
  return process.env[TRIAL] !== undefined && isWatched()
}

/** Resolves once the report is sent: the end of the process would lose reports. */
export function report(facts: ChildReport): Promise<void> {
  return new Promise(resolve => {
    if (isWatched()) process.send!(facts, undefined, undefined, () => resolve())
    else resolve()
  })
}

// Without a listener, a signal ends the process at once, and a trial's copies stay.
const SIGNALS = ['SIGINT', 'SIGTERM'] as const

function endBySignal(_: NodeJS.Signals, number: number): never {
  process.exit(128 + number)
}

/** To call before anything else. */
export function beginTrial(): void {
  for (const signal of SIGNALS) process.on(signal, endBySignal)
}

/** Waits for the end of the former child. Ends with the watching process. */
export async function takeTurn(): Promise<void> {
  if (!isTrial()) return
  const begun = new Promise<void>(resolve => {
    const hear = ({ begin }: ParentOrder): void => {
      if (begin === undefined) return
      process.off('message', hear)
      process.off('disconnect', end)
      resolve()
    }
    process.on('message', hear)
    process.on('disconnect', end)
  })
  await report({ isReady: true })
  await begun
  for (const signal of SIGNALS) process.off(signal, endBySignal)
  delete process.env[TRIAL]
}

function end(): never {
  process.exit(1)
}

/**
 * Shows why the model of a trial is refused, and reports changes of data.
 *
 * @returns to call when all data may have changed, without a report of rows
 */
export function followRefusals(engine: RestEngine): () => void {
  let isRefused = false
  let timer: NodeJS.Timeout | undefined
  const changed = (): void => {
    if (isRefused) timer ??= setTimeout(tell, TOGETHER)
  }
  const tell = (): void => {
    timer = undefined
    void report({ isChanged: true })
  }
  const { recorder } = internalsOf(engine).parts
  const sink: ChangeSink = { add: changed }
  process.on('message', ({ refusal }: ParentOrder) => {
    if (refusal === undefined) return
    isRefused = refusal !== null
    if (isRefused) recorder.watchers.add(sink)
    else recorder.watchers.delete(sink)
    internalsOf(engine).refuseModel(refusal ?? undefined)
  })
  return changed
}
