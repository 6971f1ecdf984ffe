/**
 * Token marks: the marks of tokens that were made before the state of their user was known, since a database answers by promises only. They
 * are remembered here, for an engine and its forks, and kept in the database for other processes.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { LogInStore, TokenState } from '../../records/database/log-in-store.ts'
import type { Claims } from '../../model/hook-context.ts'
import type { SigningKey } from './tokens.ts'
import { isUnmarked, markOf } from './user-state.ts'

/** Limit of the marks that are remembered; those of other tokens are read. */
const MAX_MARKS = 10_000

/** How often the mark of a token is asked for, and milliseconds from one time to the next. */
const ASKED = 6
const ASKED_AGAIN_MS = 50

export class TokenMarks {
  readonly #key: SigningKey
  readonly #store: LogInStore | undefined
  /** What is under way. */
  readonly #keeping = new Set<Promise<unknown>>()

  /** @param store undefined where no other process needs to know */
  constructor(key: SigningKey, store: LogInStore | undefined) {
    this.#key = key
    this.#store = store
  }

  /** Marks a token with the state of its user, which is being read. What goes wrong is said where the token is used. */
  keep({ jti, sub, exp }: Claims, state: Promise<string>, now: number): void {
    const { marks, markKey } = this.#key
    const keeping = (async () => {
      const mark = markOf(jti, sub, await state, markKey)
      await this.#store?.keepMark(jti, mark, exp, now)
      return mark
    })()
    if (marks.size >= MAX_MARKS) marks.delete(marks.keys().next().value!)
    marks.set(jti, keeping)
    this.#keeping.add(keeping)
    const settle = (): void => void this.#keeping.delete(keeping)
    keeping.then(settle, settle)
  }

  /** Returns the mark of a token as it is remembered; undefined where it carries its own, and where it is not known. */
  remembered({ jti }: Claims): Promise<string> | undefined {
    return this.#key.marks.get(jti)
  }

  /** Reads what is known of a token, its mark with it. */
  async read<T extends { readonly known: TokenState }>(
    claims: Claims,
    read: () => Promise<T>,
  ): Promise<T & { readonly mark: string | undefined }> {
    for (let asked = 1; ; asked++) {
      const found = await read()
      const mark = (await this.remembered(claims)) ?? found.known.mark
      if (mark !== undefined || !isUnmarked(claims) || asked === ASKED) return { ...found, mark }
      // Another process may have made the token just now.
      await sleep(ASKED_AGAIN_MS)
    }
  }

  /** Resolves when all that is to be kept is kept. */
  async settled(): Promise<void> {
    if (this.#keeping.size > 0) await Promise.allSettled(this.#keeping)
  }
}
