/** Showing: gets calls of an engine and of test fixtures, while a list shows the engine. See doors/engines/. */

export interface Showing {
  /** @param place a file; `undefined`: where the engine was made */
  rename(name: string, place: string | undefined): void
  /** Out of the list: no test asks the engine. */
  hide(): void
  /** The engine's test has failed. */
  fail(reason: string): void
  /** Resolves when the engine may close; `undefined`: at once. */
  leave(): Promise<void> | undefined
}
