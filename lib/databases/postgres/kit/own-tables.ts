/** Own tables: the names of the tables that engines make for themselves, which are no part of a model. */

/** Changed rows, in a database that an engine has made. */
export const LOG_TABLE = 'mikro_changes'

/** Marks of tokens that `engine.token` has made. */
export const TOKENS_TABLE = 'mikro_tokens'

/** Tokens that have been logged out, and users who are removed. */
export const ENDED_TABLE = 'mikro_ended'

/** Log-ins that have failed or are being checked. */
export const LOGINS_TABLE = 'mikro_logins'

/** Those that are undone with the rest of the data. */
export const UNDONE_TABLES = [ENDED_TABLE, LOGINS_TABLE]

export const OWN_TABLES = [LOG_TABLE, TOKENS_TABLE, ENDED_TABLE, LOGINS_TABLE]
