/**
 * Find record: the entity of a key by `em.findOne`, without MikroORM's filters, and what the metadata of an entity says about loading and
 * removing it.
 */
import { Cascade, ReferenceKind, type EntityManager, type EntityMetadata, type EntityName } from '@mikro-orm/core'
import { findFirst } from '../../model/metadata/eager-cycles.ts'

const REMOVING = new Set<Cascade>([Cascade.REMOVE, Cascade.ALL, Cascade.SCHEDULE_ORPHAN_REMOVAL])
const simple = new WeakMap<EntityMetadata, boolean>()

/** Whether the entity is a single table of its own. In hierarchies the statements differ by record. */
function isPlainEntity(meta: EntityMetadata): boolean {
  return meta.root === meta && !meta.inheritanceType && !meta.virtual && !meta.view && !meta.pivotTable && !meta.schema
}

/** Whether a record of the entity is one row of one table, found by one value. */
export function loadsAlone(name: EntityName, em: EntityManager): boolean {
  const meta = em.getMetadata().get(name)
  return isPlainEntity(meta) && isSimple(meta)
}

/** Whether the unit of work removes other records with one of the entity. */
export function cascades({ relations }: EntityMetadata): boolean {
  return relations.some(({ orphanRemoval, cascade }) => orphanRemoval === true || cascade?.some(kind => REMOVING.has(kind)))
}

/** Loads the entity of a key as `em.findOne` does. */
export async function findRecord(name: EntityName, key: unknown, em: EntityManager): Promise<object | undefined> {
  const { tptChildren, tptParent, props, primaryKeys } = em.getMetadata().get(name)
  // For a record in several tables MikroORM only reads the class at the top of the hierarchy, and only when nothing is lazy.
  if (tptChildren !== undefined && (tptParent !== undefined || props.some(({ lazy }) => lazy === true))) {
    for (const child of tptChildren) {
      const found = await findRecord(child.class, key, em)
      if (found !== undefined) return found
    }
  }
  return findFirst(name, buildCondition(key, primaryKeys), em)
}

/**
 * Builds a condition on a key. MikroORM would take nested keys for alternatives where they are the whole key, and for rows of rows where
 * every part is nested.
 */
function buildCondition(key: unknown, [only, ...others]: readonly string[]): object {
  if (!Array.isArray(key)) return key as object
  const parts = key as unknown[]
  if (others.length === 0) return parts.some(part => Array.isArray(part)) ? { [only!]: parts.flat(Infinity) } : parts
  if (!parts.every(part => Array.isArray(part))) return parts
  return Object.fromEntries([only!, ...others].map((name, index) => [name, (parts[index] as unknown[]).flat(Infinity)]))
}

/** Whether a record is one row, found by one value, and loads nothing else. */
function isSimple(meta: EntityMetadata): boolean {
  let known = simple.get(meta)
  if (known === undefined) {
    const [key, ...others] = meta.getPrimaryProps()
    known =
      key !== undefined &&
      others.length === 0 &&
      key.kind === ReferenceKind.SCALAR &&
      key.customType === undefined &&
      meta.props.every(
        prop => prop.eager !== true && prop.targetKey === undefined && !(prop.kind === ReferenceKind.ONE_TO_ONE && !prop.owner),
      )
    simple.set(meta, known)
  }
  return known
}
