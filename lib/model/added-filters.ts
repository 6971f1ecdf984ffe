/**
 * Added filters: filters of `engine.orm.em.addFilter` while the engine runs. A filter holds for later requests, this entity manager and its
 * forks.
 */

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

export class AddedFilters {
  /** Another object after each change. */
  named: NamedFilters
  #changed: () => void = () => {}

  constructor(parent?: AddedFilters) {
    this.named = parent?.named ?? NO_FILTERS
  }

  add(name: string, filter: OrmFilter): void {
    this.named = Object.freeze({ ...this.named, [name]: { ...filter, default: filter.default ?? true } })
    this.#changed()
  }

  /** Sets the listener. */
  follow(changed: () => void): void {
    this.#changed = changed
  }
}
