/**
 * Log-in store: ended tokens, removed users and failed log-ins, in a database that several processes share. A single process keeps them in
 * memory.
 */
import type { Reading } from './dialect.ts'

export interface StoredToken {
  readonly id: string
  /** The user's key, each part as text. */
  readonly user: readonly string[]
  /** Names all tokens of one log-in; undefined for a single token. */
  readonly family?: string | undefined
}

export interface TokenState {
  readonly hasEnded: boolean
  /** When a user of this key was last removed, in microseconds since 1970. */
  readonly removed: number | undefined
  /** The mark of the user's state, if not in the token. */
  readonly mark: string | undefined
}

/** `void`: the attempt does not count. */
export type LogInOutcome = 'failed' | 'succeeded' | 'void'

export interface LogInWindow {
  readonly after: bigint
  readonly before: bigint
}

/** IDs of attempts that count against an identifier. */
export interface LogInAttempts {
  readonly failed: readonly bigint[]
  /** Attempts being checked now. */
  readonly pending: readonly bigint[]
}

export interface LogInStore {
  /** False: log-ins are kept in memory. */
  readonly mayWrite: boolean
  read(token: StoredToken): Reading<TokenState>
  /**
   * Ends a token, or a family of tokens.
   *
   * @param expires when the token ends by itself, in seconds since 1970
   * @returns whether the token was valid before: true for one of several callers at once
   */
  end(id: string, expires: number, now: number): Promise<boolean>
  keepMark(id: string, mark: string, expires: number, now: number): Promise<void>
  /**
   * @param attempt the ID of the attempt
   * @param most with so many other attempts that count, none begins
   * @returns undefined if the attempt has begun, else the attempts that count against it
   */
  begin(name: string, attempt: bigint, window: LogInWindow, most: number): Promise<LogInAttempts | undefined>
  /** A success forgets earlier failures. */
  settle(name: string, attempt: bigint, outcome: LogInOutcome, window: LogInWindow): Promise<void>
}
