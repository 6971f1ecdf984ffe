/**
 * Where the suite runs that runs now: tests of one process run one after another. It has a file of its own, since files that use a server
 * are told by their imports.
 */
let server = false

export const setOnServer = (is: boolean): void => {
  server = is
}

/** Whether the suite that runs is on PostgreSQL. */
export const isOnServer = (): boolean => server
