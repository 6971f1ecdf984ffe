/** ORM connection: what connections of all databases ask of MikroORM. */
import type { EntityManager, EntityName, MikroORM } from '@mikro-orm/core'
import type { Clock } from '../../foundation/base/clock.ts'
import { cascades, findRecord, loadsAlone } from './find-record.ts'
import { ManagerCheck, runsForeignCode } from './listeners.ts'
import { retime } from './model-time.ts'

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
