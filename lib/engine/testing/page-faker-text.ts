/** The twin of faker-text.ts for pages, without Faker. */
import type { Readable } from './faker-text.ts'

export async function loadReadable(): Promise<Readable | undefined> {
  return undefined
}
