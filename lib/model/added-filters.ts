/** Keeps the MikroORM filters of `engine.orm.em.addFilter`, added while the engine runs, for later requests. */

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
  /** A new object after each `add`. */
  named: NamedFilters
  #changed: () => void = () => {}

  constructor(parent?: AddedFilters) {
    this.named = parent?.named ?? NO_FILTERS
  }

  add(name: string, filter: OrmFilter): void {
    this.named = Object.freeze({ ...this.named, [name]: { ...filter, default: filter.default ?? true } })
    this.#changed()
  }

  onChange(changed: () => void): void {
    this.#changed = changed
  }
}
