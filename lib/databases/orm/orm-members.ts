/** Refuses a model at the start if MikroORM lacks a private member that the engine needs for the model. */
import { EntityComparator, ObjectHydrator, UnitOfWork, Utils, type EntityMetadata, type MikroORM } from '@mikro-orm/core'
import { COMPARATOR } from './corrected-comparator.ts'
import { FACTORY } from './corrected-manager.ts'

export interface Needed {
  readonly holder: string
  readonly object: object
  readonly members: readonly string[]
}

/** For links by other keys than the primary key (`target-keys.ts`). */
const LINKS: readonly Needed[] = [
  { holder: 'EntityComparator', object: EntityComparator.prototype, members: ['prepareEntity', 'getEntityComparator'] },
]

const ALWAYS: readonly Needed[] = [
  { holder: 'UnitOfWork', object: UnitOfWork.prototype, members: ['getCommitOrder', 'getChangeSetGroups', 'findExtraUpdates'] },
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

/** MikroORM sets the platform during discovery. */
function isWithoutPlatform({ props }: EntityMetadata): boolean {
  const types = props.flatMap(({ kind, customType }) => (kind === 'scalar' && customType !== undefined ? [customType] : []))
  return types.length > 0 && types.every(type => type.platform === undefined)
}
