/** The names of the engine's own tables in a database. */

/** Changed rows. */
export const LOG_TABLE = 'mikro_changes'

/** Marks of tokens by `engine.token`. */
export const TOKENS_TABLE = 'mikro_tokens'

/** Logged-out tokens, removed users. */
export const ENDED_TABLE = 'mikro_ended'

/** Log-ins that have failed or are being checked. */
export const LOGINS_TABLE = 'mikro_logins'

/** Undone with the rest of the data. */
export const UNDONE_TABLES = [ENDED_TABLE, LOGINS_TABLE]

export const OWN_TABLES = [LOG_TABLE, TOKENS_TABLE, ENDED_TABLE, LOGINS_TABLE]
