/**
 * The interface of ended tokens, removed users and failed log-ins, in a database shared by processes. A single process has them in memory.
 */
import type { Reading } from './dialect.ts'

export interface StoredToken {
  readonly id: string
  /** The user's key, each part as text. */
  readonly user: readonly string[]
  /** For all tokens of one log-in. */
  readonly family?: string | undefined
}

export interface TokenState {
  readonly hasEnded: boolean
  /** The last removal of a user with this key, in microseconds since 1970. */
  readonly removed: number | undefined
  /** Marks the user's state, unless the token does. */
  readonly mark: string | undefined
}

/** `void`: the attempt does not count. */
export type LogInOutcome = 'failed' | 'succeeded' | 'void'

export interface LogInWindow {
  readonly after: bigint
  readonly before: bigint
}

/** IDs of attempts, counted against an identifier. */
export interface LogInAttempts {
  readonly failed: readonly bigint[]
  /** Attempts being checked now. */
  readonly pending: readonly bigint[]
}

export interface LogInStore {
  /** False: in memory. */
  readonly mayWrite: boolean
  read(token: StoredToken): Reading<TokenState>
  /**
   * Ends a token, or family of tokens.
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
