/**
 * Added filters: those that the application adds by `engine.orm.em.addFilter` while the engine runs. They hold for the requests that come
 * after, as for what this entity manager and its forks find.
 */

/** A filter of MikroORM. */
export interface OrmFilter {
  readonly name?: string
  readonly cond:
    | object
    | ((args: object | undefined, type: string, em: unknown, options: object, entityName: string) => object | Promise<object>)
  readonly default?: boolean
  readonly args?: boolean
  readonly entity?: unknown
}

export type NamedFilters = Readonly<Record<string, OrmFilter>>

export const NO_FILTERS: NamedFilters = Object.freeze({})

/** Those of one connection. */
export class AddedFilters {
  /** All of them; another object after each change. */
  named: NamedFilters
  #changed: () => void = () => {}

  constructor(parent?: AddedFilters) {
    this.named = parent?.named ?? NO_FILTERS
  }

  /** Is called by the entity manager. One of the same name is replaced. */
  add(name: string, filter: OrmFilter): void {
    this.named = Object.freeze({ ...this.named, [name]: { ...filter, default: filter.default ?? true } })
    this.#changed()
  }

  /** From now on each change is told. */
  follow(changed: () => void): void {
    this.#changed = changed
  }
}
