/**
 * Log-in store: what a database keeps of log-ins, so that all processes that serve it agree: tokens that have ended, users who are gone,
 * log-ins that have failed. A database of one process keeps none of it; it is in memory then.
 */
import type { Reading } from './dialect.ts'

/** A token, as the store is asked for it. */
export interface StoredToken {
  readonly id: string
  /** The key of its user, each part as text. */
  readonly user: readonly string[]
  /** The ID that all tokens of one log-in share; undefined for a token by itself. */
  readonly family?: string | undefined
}

/** What the store knows of a token. */
export interface TokenState {
  /** Whether it, or its family, has ended. */
  readonly hasEnded: boolean
  /** When a user of this key was removed last, in microseconds since 1970. */
  readonly removed: number | undefined
  /** The mark of the user's state, where the token does not carry it itself. */
  readonly mark: string | undefined
}

/** What has become of an attempt. */
export type LogInOutcome = 'failed' | 'succeeded' | 'void'

/** Which attempts to log in count: those with IDs between these. IDs grow with time. */
export interface LogInWindow {
  readonly after: bigint
  readonly before: bigint
}

/** Log-ins by one identifier that count against it, as IDs of attempts. */
export interface LogInAttempts {
  readonly failed: readonly bigint[]
  /** Those that are being checked. */
  readonly pending: readonly bigint[]
}

export interface LogInStore {
  /** Whether it may be written; else what is to be kept is kept in memory. */
  readonly mayWrite: boolean
  /** Reads what is known of a token. */
  read(token: StoredToken): Reading<TokenState>
  /**
   * Ends a token, or a family of tokens.
   *
   * @param expires when it would end by itself, in seconds since 1970
   * @returns whether it had not ended before: of several who end it at once, one
   */
  end(id: string, expires: number, now: number): Promise<boolean>
  /** Keeps the mark of a token that does not carry it. */
  keepMark(id: string, mark: string, expires: number, now: number): Promise<void>
  /**
   * Begins an attempt to log in.
   *
   * @param attempt its ID
   * @param most how many others may count; where so many do, nothing is begun
   * @returns undefined when the attempt has begun, else what counts against it
   */
  begin(name: string, attempt: bigint, window: LogInWindow, most: number): Promise<LogInAttempts | undefined>
  /** Ends an attempt: a success takes back the failures before it, `void` takes back the attempt alone. */
  settle(name: string, attempt: bigint, outcome: LogInOutcome, window: LogInWindow): Promise<void>
}
