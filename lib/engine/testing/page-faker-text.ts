/** Page faker text: a page does without Faker. */
import type { Readable } from './faker-text.ts'

export async function loadReadable(): Promise<Readable | undefined> {
  return undefined
}
