/** Showing: calls of an engine and of test fixtures to a list. See doors/engines/. */

export interface Showing {
  /** @param place a file; `undefined`: where the engine was made */
  rename(name: string, place: string | undefined): void
  /** No test asks the engine. */
  hide(): void
  fail(reason: string): void
  /** Resolves when the engine may close; `undefined`: at once. */
  leave(): Promise<void> | undefined
}
