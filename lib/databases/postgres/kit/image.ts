/** Image: the content of a database at one moment: a position in its change log, or what differs there from another image. */
import type { WorldImage } from '../../../records/database/world-store.ts'
import type { SequenceValues, TableChanges } from './row-changes.ts'

/** A database whose log positions count in: the one of an engine, or of a fork. Its identity is what counts. */
export interface LogPlace {
  /** Where this database was copied from, and the position up to which both logs are the same; undefined for one that is not a fork. */
  readonly origin: { readonly place: LogPlace; sameUpTo: number } | undefined
  /**
   * Reads what has changed in it from one position to a later one.
   *
   * @throws Error in one line when it is closed.
   */
  changes(from: () => number, to: number): Promise<TableChanges[]>
  /** Takes an image at a position. */
  imageAt(position: number): PostgresImage
}

/** What an image consists of. */
type ImageContent =
  | { readonly kind: 'position'; readonly place: LogPlace; readonly position: number }
  | { readonly kind: 'changes'; readonly base: PostgresImage; readonly changes: readonly TableChanges[] }

export class PostgresImage implements WorldImage {
  readonly size: number
  readonly sequences: SequenceValues
  /** Another form of the same once the position is not in the log any more. */
  content: ImageContent

  constructor(content: ImageContent, sequences: SequenceValues, size: number) {
    this.content = content
    this.sequences = sequences
    this.size = size
  }
}

/** How a database gets to an image: back to a position of its own log, and then these changes. */
export interface LogRoute {
  readonly position: number
  readonly changes: readonly (readonly TableChanges[])[]
}

/**
 * Finds the way to an image.
 *
 * @throws TypeError for an image of a database that has nothing in common with this one.
 */
export async function findRoute(image: PostgresImage, place: LogPlace): Promise<LogRoute> {
  const { content } = image
  if (content.kind === 'changes') {
    const route = await findRoute(content.base, place)
    return { position: route.position, changes: [...route.changes, content.changes] }
  }
  const { position } = content
  if (content.place === place) return { position, changes: [] }
  // One of those that this database was copied from.
  let sameUpTo = Infinity
  for (let { origin } = place; origin !== undefined; { origin } = origin.place) {
    const { place: from } = origin
    sameUpTo = Math.min(sameUpTo, origin.sameUpTo)
    if (content.place !== from) continue
    if (position <= sameUpTo) return { position, changes: [] }
    // The other log may lose entries meanwhile, and both are the same up to less then.
    const least = (): number => (sameUpTo = Math.min(sameUpTo, origin.sameUpTo))
    const changes = await from.changes(least, position)
    return { position: sameUpTo, changes: [changes] }
  }
  // A fork, of this database or of one that both have in common.
  return findRoute(await relateToOrigin(content.place, position, image), place)
}

/** Describes an image of a fork by what differs there from the database that it is a fork of. */
export async function relateToOrigin(fork: LogPlace, position: number, { sequences, size }: PostgresImage): Promise<PostgresImage> {
  const { origin } = fork
  if (origin === undefined)
    throw new TypeError(
      'The snapshot is of another database. On PostgreSQL a snapshot can be restored by its engine, and by forks of that.',
    )
  if (position <= origin.sameUpTo) {
    // The other database keeps an eye on images of its own alone.
    const base = origin.place.imageAt(position)
    return new PostgresImage({ kind: 'changes', base, changes: [] }, sequences, size)
  }
  const changes = await fork.changes(() => origin.sameUpTo, position)
  return new PostgresImage({ kind: 'changes', base: origin.place.imageAt(origin.sameUpTo), changes }, sequences, size)
}
