/**
 * Members of MikroORM that its types keep private, or that it calls internal, and that the engine leans on. They are looked for here, when an engine is
 * created: another version of MikroORM may call them otherwise. Where there is a public way, it is taken (`canFlushAtOnce`); else the model that needs them is
 * refused, so that no request comes upon what is missing.
 */
import { ChangeSetComputer, ChangeSetPersister, EntityComparator, ObjectHydrator, UnitOfWork, Utils } from '@mikro-orm/core'
import type { EntityMetadata, MikroORM } from '@mikro-orm/core'
import { SqliteConnection, SqliteDriver } from '@mikro-orm/sqlite'

/** Some members of one class or object. */
interface Needed {
  readonly holder: string
  readonly object: object
  readonly members: readonly string[]
}

const STEPS: readonly Needed[] = [
  {
    holder: 'UnitOfWork',
    object: UnitOfWork.prototype,
    members: [
      'filterCollectionUpdates',
      'findExtraUpdates',
      'getChangeSetGroups',
      'persistToDatabase',
      'takeCollectionSnapshots',
      'postCommitCleanup',
      'register',
    ],
  },
  {
    holder: 'ChangeSetPersister',
    object: ChangeSetPersister.prototype,
    members: ['prepareOptions', 'processProperties', 'mapPrimaryKey', 'syncCompositeIdentifiers', 'markAsPopulated'],
  },
]

/** What links by another key than the primary one need (`target-keys.ts`). */
const LINKS: readonly Needed[] = [
  { holder: 'ChangeSetComputer', object: ChangeSetComputer.prototype, members: ['computeChangeSet', 'processToOne'] },
]

const ALWAYS: readonly Needed[] = [
  { holder: 'UnitOfWork', object: UnitOfWork.prototype, members: ['getCommitOrder'] },
  { holder: 'EntityComparator', object: EntityComparator.prototype, members: ['wrap', 'safeKey'] },
  { holder: 'ObjectHydrator', object: ObjectHydrator.prototype, members: ['safeKey'] },
  { holder: 'SqliteConnection', object: SqliteConnection.prototype, members: ['executeQuery', 'getSql', 'transformRawResult', 'logQuery'] },
  { holder: 'SqliteDriver', object: SqliteDriver.prototype, members: ['getPrimaryKeyFields', 'rethrow'] },
]

function findMissing(needed: readonly Needed[]): string | undefined {
  for (const { holder, object, members } of needed) {
    const name = members.find(each => !(each in object))
    if (name !== undefined) return `${holder}.${name}`
  }
}

/** Whether the steps of MikroORM's unit of work can be taken one by one; else `em.flush` takes them. */
export const canFlushAtOnce = findMissing(STEPS) === undefined

/** Whether links by another key than the primary one can be corrected. A model that has them is refused otherwise. */
export const canCorrectLinks = findMissing(LINKS) === undefined

/** Refuses a version of MikroORM without what this model needs of it. */
export function checkMembers(orm: MikroORM): void {
  const metas = [...orm.getMetadata()]
  const name =
    findMissing([
      ...ALWAYS,
      { holder: 'EntityManager', object: orm.em, members: ['global'] },
      ...(metas.some(({ relations }) => relations.some(({ targetKey }) => targetKey !== undefined)) ? LINKS : []),
    ]) ?? (metas.some(isWithoutPlatform) ? 'Type.platform' : undefined)
  if (name !== undefined) {
    throw new Error(
      `MikroORM ${Utils.getORMVersion()} has no ${name}, which this version of mikro-rest needs: install MikroORM 7.2, or a newer mikro-rest.`,
    )
  }
}

/** MikroORM gives each type of a property the platform, while it discovers the entity. */
function isWithoutPlatform({ props }: EntityMetadata): boolean {
  const types = props.flatMap(({ kind, customType }) => (kind === 'scalar' && customType !== undefined ? [customType] : []))
  return types.length > 0 && types.every(type => type.platform === undefined)
}
