/** Repeatable: whether a write may run again after a conflict with a transaction that runs at the same time. */

/** `declared`: the application's code in the write declares itself repeatable. */
export type Repeatable = boolean | 'declared'
