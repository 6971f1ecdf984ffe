/** Showing: what an engine and the fixtures of tests tell those who show it while its process runs. See doors/engines/. */

/** An engine that is shown. */
export interface Showing {
  /**
   * Calls it something else.
   *
   * @param place where it belongs: a file; undefined: where it was made
   */
  rename(name: string, place: string | undefined): void
  /** Takes it out of the list: it is no engine that a test asks. */
  hide(): void
  /** Its test has failed. */
  fail(reason: string): void
  /** It is about to be closed: resolves when it may be; undefined: it may be at once. */
  leave(): Promise<void> | undefined
}
