/**
 * Added filters: those that the application adds by `engine.orm.em.addFilter` while the engine runs. They hold for the requests that come after, as for what this
 * entity manager and its forks find.
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

const NONE: NamedFilters = Object.freeze({})

/** Those of one connection. */
export class AddedFilters {
  #named: NamedFilters
  #changed: () => void = () => {}

  constructor(parent?: AddedFilters) {
    this.#named = parent?.named ?? NONE
  }

  /** All of them; another object after each change. */
  get named(): NamedFilters {
    return this.#named
  }

  get isEmpty(): boolean {
    return this.#named === NONE
  }

  /** Is called by the entity manager. One of the same name is replaced. */
  add(name: string, filter: OrmFilter): void {
    this.#named = Object.freeze({ ...this.#named, [name]: { ...filter, default: filter.default ?? true } })
    this.#changed()
  }

  /** From now on each change is told. */
  follow(changed: () => void): void {
    this.#changed = changed
  }
}
