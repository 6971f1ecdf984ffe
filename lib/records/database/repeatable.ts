/** Repeatable: whether a write may run again, in another transaction, where several run at a time and one gets in the way of another. */

/** `declared`: with all code of the application's that runs in it, which says so itself. */
export type Repeatable = boolean | 'declared'
