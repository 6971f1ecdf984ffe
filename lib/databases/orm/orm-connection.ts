/** ORM connection: what connections of all databases ask of MikroORM. */
import { type EntityManager, type EntityName, type MikroORM, Cascade, ReferenceKind, type EntityMetadata } from '@mikro-orm/core'
import type { Clock } from '../../foundation/async/clock.ts'
import { ManagerCheck, runsForeignCode } from './listeners.ts'
import { retime } from './model-time.ts'
import { findFirst } from '../../model/metadata/eager-cycles.ts'

export abstract class OrmConnection {
  readonly #managers: ManagerCheck

  /** @param ordinary MikroORM's class of entity managers */
  constructor(ordinary: ConstructorParameters<typeof ManagerCheck>[0]) {
    this.#managers = new ManagerCheck(ordinary)
  }

  abstract get orm(): MikroORM

  protected abstract get clock(): Clock | undefined

  retime(entity: object, given: object, from: number): void {
    const { clock } = this
    if (clock === undefined || clock.isSystem) return
    retime(entity as Record<string, unknown>, given, this.orm.getMetadata(entity.constructor).props, from, clock)
  }

  writesAlone(): boolean {
    return this.#managers.isPlain(this.orm.em)
  }

  explainListeners(): string | undefined {
    return this.#managers.explain(this.orm.em)
  }

  load(entity: EntityName, key: unknown, em: EntityManager): Promise<object | undefined> {
    return findRecord(entity, key, em)
  }

  loadsAlone(entity: EntityName): boolean {
    return loadsAlone(entity, this.orm.em)
  }

  removesAlone(entity: EntityName): boolean {
    const { em } = this.orm
    return loadsAlone(entity, em) && !cascades(em.getMetadata().get(entity)) && !runsForeignCode(em)
  }
}

/** Finds entities without MikroORM's filters; decides how to load and remove. */
const REMOVING = new Set<Cascade>([Cascade.REMOVE, Cascade.ALL, Cascade.SCHEDULE_ORPHAN_REMOVAL])
const simple = new WeakMap<EntityMetadata, boolean>()

/** False in hierarchies: statements differ by record. */
function isPlainEntity(meta: EntityMetadata): boolean {
  return meta.root === meta && !meta.inheritanceType && !meta.virtual && !meta.view && !meta.pivotTable && !meta.schema
}

/** See `EntityConnection.loadsAlone`. */
function loadsAlone(name: EntityName, em: EntityManager): boolean {
  const meta = em.getMetadata().get(name)
  return isPlainEntity(meta) && isSimple(meta)
}

function cascades({ relations }: EntityMetadata): boolean {
  return relations.some(({ orphanRemoval, cascade }) => orphanRemoval === true || cascade?.some(kind => REMOVING.has(kind)))
}

async function findRecord(name: EntityName, key: unknown, em: EntityManager): Promise<object | undefined> {
  const { tptChildren, tptParent, props, primaryKeys } = em.getMetadata().get(name)
  // Of a record in several tables, MikroORM reads only the root class, without lazy properties.
  if (tptChildren !== undefined && (tptParent !== undefined || props.some(({ lazy }) => lazy === true))) {
    for (const child of tptChildren) {
      const found = await findRecord(child.class, key, em)
      if (found !== undefined) return found
    }
  }
  return findFirst(name, buildCondition(key, primaryKeys), em)
}

/** MikroORM takes nested keys for alternatives or rows. */
function buildCondition(key: unknown, [only, ...others]: readonly string[]): object {
  if (!Array.isArray(key)) return key as object
  const parts = key as unknown[]
  if (others.length === 0) return parts.some(part => Array.isArray(part)) ? { [only!]: parts.flat(Infinity) } : parts
  if (!parts.every(part => Array.isArray(part))) return parts
  return Object.fromEntries([only!, ...others].map((name, index) => [name, (parts[index] as unknown[]).flat(Infinity)]))
}

/** A record is one row, found by one value, and loads nothing else. */
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
