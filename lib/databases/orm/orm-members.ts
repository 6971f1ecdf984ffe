/**
 * Checks the private and internal members of MikroORM that the engine corrects, because another version may name them differently. A
 * model that needs such a correction is refused at the start, not during a request.
 */
import { EntityComparator, ObjectHydrator, UnitOfWork, Utils, type EntityMetadata, type MikroORM } from '@mikro-orm/core'
import { COMPARATOR } from './corrected-comparator.ts'
import { FACTORY } from './corrected-manager.ts'

/** Some members of one class or object. */
export interface Needed {
  readonly holder: string
  readonly object: object
  readonly members: readonly string[]
}

/** Members for links by another key than the primary one (`target-keys.ts`). */
const LINKS: readonly Needed[] = [
  { holder: 'EntityComparator', object: EntityComparator.prototype, members: ['prepareEntity', 'getEntityComparator'] },
]

const ALWAYS: readonly Needed[] = [
  { holder: 'UnitOfWork', object: UnitOfWork.prototype, members: ['getCommitOrder'] },
  COMPARATOR,
  FACTORY,
  { holder: 'ObjectHydrator', object: ObjectHydrator.prototype, members: ['safeKey'] },
]

function findMissing(needed: readonly Needed[]): string | undefined {
  for (const { holder, object, members } of needed) {
    const name = members.find(each => !(each in object))
    if (name !== undefined) return `${holder}.${name}`
  }
}

/**
 * Rejects a version of MikroORM that lacks members which this model needs.
 *
 * @param driver the members of the driver that are used
 */
export function checkMembers(orm: MikroORM, driver: readonly Needed[] = []): void {
  const metas = [...orm.getMetadata()]
  const name =
    findMissing([
      ...ALWAYS,
      ...driver,
      { holder: 'EntityManager', object: orm.em, members: ['global'] },
      ...(metas.some(({ relations }) => relations.some(({ targetKey }) => targetKey !== undefined)) ? LINKS : []),
    ]) ?? (metas.some(isWithoutPlatform) ? 'Type.platform' : undefined)
  if (name !== undefined) {
    throw new Error(
      `MikroORM ${Utils.getORMVersion()} has no ${name}, which this version of mikro-rest needs: ` +
        'install MikroORM 7.2, or a newer mikro-rest.',
    )
  }
}

/** Whether a property's type lacks the platform, which MikroORM sets while it discovers the entity. */
function isWithoutPlatform({ props }: EntityMetadata): boolean {
  const types = props.flatMap(({ kind, customType }) => (kind === 'scalar' && customType !== undefined ? [customType] : []))
  return types.length > 0 && types.every(type => type.platform === undefined)
}
