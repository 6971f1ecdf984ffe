/** Checks the promise `ReadingStep.isLast`, on any database: no statement follows a reading's last batch. */
import type { ReadingStep } from './dialect.ts'

export function isLastBatch(batch: readonly ReadingStep[]): boolean {
  for (const { isLast } of batch) if (isLast !== true) return false
  return true
}

/** @throws Error if another batch follows the last */
export function checkFollowed(batch: readonly ReadingStep[]): void {
  if (isLastBatch(batch)) throw new Error('A reading has said that no statement follows, and one does.')
}
