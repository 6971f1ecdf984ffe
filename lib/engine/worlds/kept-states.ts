/**
 * Keeps the state before each request that may write, for `engine.restore({ before })`, from the first listener or workbench on: a copy of
 * the data, or a position in a server's log. A reading request has the state of the next write, if nothing changed between.
 */
import type { ChangeRecorder } from '../../records/database/changes.ts'
import type { JournalRecord } from '../journal/journal-record.ts'
import { contentsOf, type Snapshot } from './snapshot.ts'

/** Limits: states, bytes of all, bytes of one. */
const MAX_STATES = 200
const MAX_BYTES = 64 << 20
const MAX_OF_ONE = 16 << 20

interface StateSource {
  snapshot(): Promise<Snapshot>
  /** Bytes of a state in the process. */
  bytesOfState(): number
  /** Another object once all data were replaced. */
  generation(): object
  readonly recorder: ChangeRecorder
}

/** Equal moments: no change was reported between. */
interface Moment {
  readonly generation: object
  readonly changes: number
}

export interface KeptState {
  readonly snapshot: Snapshot
  readonly moment: Moment
  readonly bytes: number
}

/** `'unchanged'`: nothing has changed since the request. `reason`: a clause without a full stop. */
type WayBack = KeptState | 'unchanged' | { readonly reason: string }

const NOT_YET =
  'no state of the data was kept at that time: they are kept from the time at which somebody listens to its events, as the workbench does'

const RECORDED = 'the request is one of a recording, which has the data before the test alone: its snapshot is called "before"'

export class KeptStates {
  readonly #source: StateSource
  isOn = false
  #changes = 0
  #states: KeptState[] = []
  readonly #before = new WeakMap<JournalRecord, KeptState | string>()
  readonly #moments = new WeakMap<JournalRecord, Moment>()

  constructor(source: StateSource) {
    this.#source = source
  }

  keep(): void {
    if (this.isOn) return
    this.isOn = true
    this.#source.recorder.watchers.add({ add: () => void this.#changes++ })
  }

  get #moment(): Moment {
    return { generation: this.#source.generation(), changes: this.#changes }
  }

  /** Never rejects: a request goes on without a state. */
  async take(record: JournalRecord): Promise<void> {
    const source = this.#source
    try {
      const bytes = source.bytesOfState()
      if (bytes > MAX_OF_ONE) {
        this.#before.set(record, `the data have more than ${MAX_OF_ONE >> 20} MiB, which is too much to be copied before each request`)
        return
      }
      const taken = await this.#takeStill()
      if (taken === undefined) return void this.#before.set(record, 'other requests were changing the data all the time')
      const { moment, snapshot } = taken
      const last = this.#states.at(-1)
      // Without a write between, copies are the same.
      const isSame = last !== undefined && contentsOf(last.snapshot).image === contentsOf(snapshot).image
      const state = { snapshot, moment, bytes: isSame ? 0 : bytes }
      this.#before.set(record, state)
      this.#states.push(state)
      this.#forget()
    } catch (error) {
      this.#before.set(record, (error as Error).message.replace(/^engine\.\w+: /, '').replace(/\.$/, ''))
    }
  }

  async #takeStill(): Promise<{ readonly moment: Moment; readonly snapshot: Snapshot } | undefined> {
    for (let attempt = 0; attempt < 10; attempt++) {
      const moment = this.#moment
      const snapshot = await this.#source.snapshot()
      if (isAt(moment, this.#moment)) return { moment, snapshot }
    }
    return undefined
  }

  note(record: JournalRecord): void {
    this.#moments.set(record, this.#moment)
  }

  #forget(): void {
    let bytes = this.#states.reduce((sum, state) => sum + state.bytes, 0)
    while (this.#states.length > 1 && (this.#states.length > MAX_STATES || bytes > MAX_BYTES)) bytes -= this.#states.shift()!.bytes
  }

  /** Whether nothing but the requests has changed data since. */
  areOnly(records: readonly JournalRecord[], { moment }: KeptState): boolean {
    const changes = records.reduce((sum, record) => sum + (record.changes?.length ?? 0), moment.changes)
    return isAt({ ...moment, changes }, this.#moment)
  }

  find(record: JournalRecord): WayBack {
    if (record.ran !== undefined) return { reason: RECORDED }
    const before = this.#before.get(record)
    if (typeof before === 'string') return { reason: before }
    if (before !== undefined)
      return this.#states.includes(before)
        ? before
        : { reason: 'the state before it is not kept any more: the newest 200 are, of 64 MiB together' }
    if (record.nested) return { reason: 'the request is a part of another request: go back to before that one' }
    const moment = this.#moments.get(record)
    if (moment === undefined) return { reason: NOT_YET }
    if (isAt(moment, this.#moment)) return 'unchanged'
    return (
      this.#states.find(state => isAt(moment, state.moment)) ?? {
        reason: 'the request has changed nothing, and something that was not kept has changed the data before the next request that writes',
      }
    )
  }
}

function isAt(one: Moment, other: Moment): boolean {
  return one.generation === other.generation && one.changes === other.changes
}
