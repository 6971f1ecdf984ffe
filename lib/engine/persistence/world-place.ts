/** World place: a place of the browser for a world. */

/** The state for `reset`, and the present state. */
export type WorldPart = 'origin' | 'now'

export interface WorldPlace {
  /** Undefined: the part was never written whole. */
  read(part: WorldPart): Promise<Uint8Array | undefined>
  /** When the page ends during a write, the old part stays. */
  write(part: WorldPart, bytes: Uint8Array): Promise<void>
  remove(): Promise<void>
}
