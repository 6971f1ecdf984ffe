/**
 * A snapshot is a position in the log of a database, or changes to another image. Finds the way from a database to an image, also between
 * forks.
 */
import type { WorldImage } from '../../../records/database/world-store.ts'
import type { SequenceValues, TableChanges } from './row-changes.ts'

/** A database with a log, compared by identity. */
export interface LogPlace {
  /** Of a fork: both logs agree up to `sameUpTo`. */
  readonly origin: { readonly place: LogPlace; sameUpTo: number } | undefined
  /** @throws Error in one line when the database is closed */
  changes(from: () => number, to: number): Promise<TableChanges[]>
  imageAt(position: number): PostgresImage
}

type ImageContent =
  | { readonly kind: 'position'; readonly place: LogPlace; readonly position: number }
  | { readonly kind: 'changes'; readonly base: PostgresImage; readonly changes: readonly TableChanges[] }

export class PostgresImage implements WorldImage {
  readonly size: number
  readonly sequences: SequenceValues
  /** Becomes changes before the position leaves the log. */
  content: ImageContent

  constructor(content: ImageContent, sequences: SequenceValues, size: number) {
    this.content = content
    this.sequences = sequences
    this.size = size
  }
}

/** Back to a position in the log, then by changes. */
export interface LogRoute {
  readonly position: number
  readonly changes: readonly (readonly TableChanges[])[]
}

/** @throws TypeError for an image of a database without common origin */
export async function findRoute(image: PostgresImage, place: LogPlace): Promise<LogRoute> {
  const { content } = image
  if (content.kind === 'changes') {
    const route = await findRoute(content.base, place)
    return { position: route.position, changes: [...route.changes, content.changes] }
  }
  const { position } = content
  if (content.place === place) return { position, changes: [] }
  // `origin` is the database that was copied.
  let sameUpTo = Infinity
  for (let { origin } = place; origin !== undefined; { origin } = origin.place) {
    const { place: from } = origin
    sameUpTo = Math.min(sameUpTo, origin.sameUpTo)
    if (content.place !== from) continue
    if (position <= sameUpTo) return { position, changes: [] }
    // The other log may lose entries meanwhile.
    const least = (): number => (sameUpTo = Math.min(sameUpTo, origin.sameUpTo))
    const changes = await from.changes(least, position)
    return { position: sameUpTo, changes: [changes] }
  }
  // A fork of this database or of a common origin.
  return findRoute(await relateToOrigin(content.place, position, image), place)
}

/** By differences from the origin. */
export async function relateToOrigin(fork: LogPlace, position: number, { sequences, size }: PostgresImage): Promise<PostgresImage> {
  const { origin } = fork
  if (origin === undefined)
    throw new TypeError(
      'The snapshot is of another database. On PostgreSQL a snapshot can be restored by its engine, and by forks of that.',
    )
  if (position <= origin.sameUpTo) {
    // A position in the origin's log, kept up to date by the origin.
    const base = origin.place.imageAt(position)
    return new PostgresImage({ kind: 'changes', base, changes: [] }, sequences, size)
  }
  const changes = await fork.changes(() => origin.sameUpTo, position)
  return new PostgresImage({ kind: 'changes', base: origin.place.imageAt(origin.sameUpTo), changes }, sequences, size)
}
