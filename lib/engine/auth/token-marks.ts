/**
 * Keeps the marks of tokens that were made before the password was read, as on PostgreSQL: other tokens carry their mark (user-state.ts).
 * An engine and its forks remember marks; the database keeps marks for other processes.
 */
import type { LogInStore, TokenState } from '../../records/database/log-in-store.ts'
import { pause } from '../../foundation/async/turns.ts'
import type { Claims } from '../../model/hook-context.ts'
import type { SigningKey } from './tokens.ts'
import { isUnmarked, markOf } from './user-state.ts'

/** Most remembered marks; others are read. */
const MAX_MARKS = 10_000

/** Tries at most, and milliseconds between two. */
const MAX_TRIES = 6
const PAUSE_MS = 50

export class TokenMarks {
  readonly #key: SigningKey
  readonly #store: LogInStore | undefined
  readonly #unfinished = new Set<Promise<unknown>>()

  /** @param store `undefined`: no other process reads marks */
  constructor(key: SigningKey, store: LogInStore | undefined) {
    this.#key = key
    this.#store = store
  }

  /** If reading the state fails, the use of the token says so. */
  keep({ jti, sub, exp }: Claims, state: Promise<string>, now: number): void {
    const { marks, markKey } = this.#key
    const keptMark = (async () => {
      const mark = markOf(jti, sub, await state, markKey)
      await this.#store?.keepMark(jti, mark, exp, now)
      return mark
    })()
    if (marks.size >= MAX_MARKS) marks.delete(marks.keys().next().value!)
    marks.set(jti, keptMark)
    this.#unfinished.add(keptMark)
    const settle = (): void => void this.#unfinished.delete(keptMark)
    keptMark.then(settle, settle)
  }

  /** @returns `undefined` where the token carries the mark, or another process has made the token */
  remembered({ jti }: Claims): Promise<string> | undefined {
    return this.#key.marks.get(jti)
  }

  async read<T extends { readonly known: TokenState }>(
    claims: Claims,
    read: () => Promise<T>,
  ): Promise<T & { readonly mark: string | undefined }> {
    for (let tries = 1; ; tries++) {
      const found = await read()
      const mark = (await this.remembered(claims)) ?? found.known.mark
      if (mark !== undefined || !isUnmarked(claims) || tries === MAX_TRIES) return { ...found, mark }
      // Another process may have made the token just now.
      await pause(PAUSE_MS)
    }
  }

  async settled(): Promise<void> {
    if (this.#unfinished.size > 0) await Promise.allSettled(this.#unfinished)
  }
}
