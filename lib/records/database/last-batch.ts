/**
 * Last batch: holds readings to what their statements say: behind those that are the last ones (`ReadingStep.isLast`) none follows, on any
 * database.
 */
import type { ReadingStep } from './dialect.ts'

/** Whether no statement of the reading follows a batch. */
export function isLastBatch(batch: readonly ReadingStep[]): boolean {
  for (const { isLast } of batch) if (isLast !== true) return false
  return true
}

/** @throws Error where a batch that has another one behind it says that none follows. */
export function checkFollowed(batch: readonly ReadingStep[]): void {
  if (isLastBatch(batch)) throw new Error('A reading has said that no statement follows, and one does.')
}
