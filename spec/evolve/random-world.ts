/**
 * A model that changes at random, with its rows, and what each row must be after each change: the law of `schema: 'evolve'`, written
 * without the engine.
 */
import * as fc from 'fast-check'
import { defineEntity, p } from '@mikro-orm/core'
import type { EngineOptions } from '../../lib/index.ts'

export type Kind = 'integer' | 'text' | 'float' | 'boolean' | 'datetime' | 'json' | 'bigint' | 'decimal'
export type Value = unknown

export interface RandomColumn {
  kind: Kind
  nullable: boolean
  default: Value
  unique: boolean
  index: boolean
  items: readonly string[] | undefined
  /** The table that it refers to. */
  target: string | undefined
}

export interface RandomTable {
  columns: Map<string, RandomColumn>
  /** By ID, the values of columns in their JSON form. */
  rows: Map<number, Map<string, Value>>
  /** Columns that the model has no more. */
  left: Set<string>
}

export type Tables = Map<string, RandomTable>

/** One change of a model. */
export type Change = (world: RandomWorld) => void

const NAMES = ['alpha', 'beta', 'gamma', 'delta', 'kappa', 'sigma', 'omega', 'theta']

/** A source of chance that fast-check shrinks: a list of numbers. */
export class Chance {
  readonly #numbers: readonly number[]
  #at = 0
  constructor(numbers: readonly number[]) {
    this.#numbers = numbers
  }
  below(count: number): number {
    const number = this.#numbers[this.#at++ % this.#numbers.length]! + this.#at
    return number % count
  }
  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!
  }
  often(one: number, of: number): boolean {
    return this.below(of) < one
  }
}

export const chances: fc.Arbitrary<number[]> = fc.array(fc.nat(1_000_003), { minLength: 40, maxLength: 160 })

const TEXTS = ['', 'a', "it's", '"q"', 'ä€😀', 'NULL', '%_', '0', 'x'.repeat(300), ' lead', 'line\nline', '`b`', '--', ';']

export function randomValue(kind: Kind, chance: Chance, items?: readonly string[]): Value {
  if (items !== undefined) return chance.pick(items)
  switch (kind) {
    case 'integer':
      return chance.pick([0, 1, -1, 7, 42, 2_147_483_647, -2_147_483_648, chance.below(1000)])
    case 'text':
      return chance.pick([...TEXTS, `t${chance.below(1000)}`])
    case 'float':
      return chance.pick([0, 0.5, -1.25, 3, 1e9, 1e-7, chance.below(1000) / 8])
    case 'boolean':
      return chance.often(1, 2)
    case 'datetime':
      return new Date(chance.below(2_000_000) * 1_000_003).toISOString()
    case 'json':
      return chance.pick([{ a: 1 }, [], [1, 'x', null], { deep: { é: [true] } }, { n: chance.below(9) }])
    case 'bigint':
      return chance.pick(['0', '9007199254740993', '-9223372036854775808', String(chance.below(1000))])
    case 'decimal':
      return chance.pick(['0.00', '12.50', '-3.75', `${chance.below(1000)}.25`])
  }
}

/** What becomes of a value in another type; undefined where it cannot become one. */
const CONVERSIONS: Readonly<Record<string, (value: never) => Value>> = {
  'integer text': (value: number) => String(value),
  'integer float': (value: number) => value,
  'integer bigint': (value: number) => String(value),
  'integer decimal': (value: number) => `${value}.00`,
  'text integer': (value: string) => (/^(?:0|-?[1-9]\d{0,8})$/.test(value) ? Number(value) : undefined),
  'float integer': (value: number) => (Number.isInteger(value) && Math.abs(value) < 2 ** 31 ? value : undefined),
  'bigint text': (value: string) => value,
  'datetime text': (value: string) => value,
  'text datetime': (value: string) => (/^\d{4}-\d\d-\d\dT/.test(value) ? value : undefined),
  'text json': (value: string) => {
    try {
      return JSON.parse(value) as Value
    } catch {
      return undefined
    }
  },
}

/** A server writes these in forms of its own, and takes numbers of its width. */
const OTHERS_ON_SERVER: ReadonlySet<string> = new Set(['datetime text', 'integer decimal'])

export class RandomWorld {
  readonly tables: Tables = new Map()
  readonly chance: Chance
  readonly isServer: boolean
  /** The tables before the changes. */
  readonly old: Tables = new Map()
  /** What the next start is told. */
  fill: Record<string, Record<string, unknown>> = {}
  renamed: Record<string, Record<string, string>> = {}
  drop: 'all' | false = false
  /** Why the next start must be refused. */
  refused: string | undefined
  #count = 0

  constructor(chance: Chance, isServer: boolean, from?: RandomWorld) {
    this.chance = chance
    this.isServer = isServer
    if (from !== undefined) {
      this.#count = from.#count
      this.old = from.tables
      for (const [name, { columns, rows, left }] of from.tables)
        this.tables.set(name, {
          columns: new Map([...columns].map(([column, it]) => [column, { ...it }])),
          rows: new Map([...rows].map(([id, row]) => [id, new Map(row)])),
          left: new Set(left),
        })
      return
    }
    this.addTable()
    this.addTable()
  }

  #name(): string {
    return `${NAMES[this.#count++ % NAMES.length]!}${this.#count}`
  }

  addTable(): void {
    const columns = new Map<string, RandomColumn>()
    for (let count = 1 + this.chance.below(4); count > 0; count--) columns.set(this.#name(), this.#column())
    this.tables.set(`table_${this.#name()}`, { columns, rows: new Map(), left: new Set() })
  }

  #items(): string[] {
    return ['x', 'y', "it's"]
  }

  #column(): RandomColumn {
    const kind = this.chance.pick(['integer', 'text', 'float', 'boolean', 'datetime', 'json', 'bigint', 'decimal'] as const)
    const items = kind === 'text' && this.chance.often(1, 3) ? this.#items() : undefined
    const fallback =
      ['integer', 'boolean', 'text'].includes(kind) && this.chance.often(1, 3) ? randomValue(kind, this.chance, items) : undefined
    return {
      kind,
      nullable: this.chance.often(1, 2),
      default: fallback,
      unique: false,
      index: this.chance.often(1, 4),
      items,
      target: undefined,
    }
  }

  table(): [name: string, table: RandomTable] {
    return this.chance.pick([...this.tables])
  }

  /** Makes some changes of the model and of what its rows must be. */
  change(): void {
    for (let count = 1 + this.chance.below(3); count > 0 && this.refused === undefined; count--) this.chance.pick(CHANGES)(this)
  }

  addColumn(): void {
    const [name, table] = this.table()
    const column = this.#column()
    const called = this.#name()
    if (this.chance.often(1, 3)) return this.#addLink(name, table, called)
    const isNeeded = !column.nullable && column.default === undefined
    if (isNeeded && table.rows.size > 0 && this.chance.often(1, 6)) {
      table.columns.set(called, column)
      this.refused ??= 'required, and'
      return
    }
    const filled = isNeeded || this.chance.often(1, 3)
    const value = filled ? randomValue(column.kind, this.chance, column.items) : (column.default ?? null)
    if (filled) this.fill[name] = { ...this.fill[name], [called]: value }
    table.columns.set(called, column)
    for (const row of table.rows.values()) row.set(called, value)
  }

  #addLink(name: string, table: RandomTable, called: string): void {
    const [target, other] = this.table()
    const ids = [...other.rows.keys()]
    const nullable = ids.length === 0 || this.chance.often(1, 2)
    const value = nullable ? null : this.chance.pick(ids)
    if (value !== null) this.fill[name] = { ...this.fill[name], [called]: value }
    table.columns.set(called, { kind: 'integer', nullable, default: undefined, unique: false, index: false, items: undefined, target })
    for (const row of table.rows.values()) row.set(called, value)
  }

  removeColumn(): void {
    const [name, table] = this.table()
    const [called] = this.chance.pick([...table.columns])
    // What this very change has added or filled is in no database yet.
    if (table.columns.size < 2 || !this.#isOld(name, called) || this.fill[name]?.[called] !== undefined) return
    table.columns.delete(called)
    table.left.add(called)
    for (const row of table.rows.values()) row.delete(called)
  }

  renameColumn(): void {
    const [name, table] = this.table()
    const [called, column] = this.chance.pick([...table.columns])
    // What this very change has added has no old name.
    if (this.fill[name]?.[called] !== undefined || Object.values(this.renamed[name] ?? {}).includes(called) || !this.#isOld(name, called))
      return
    const next = this.#name()
    this.renamed[name] = { ...this.renamed[name], [called]: next }
    table.columns = new Map([...table.columns].map(([each, it]) => (each === called ? [next, column] : [each, it])))
    for (const row of table.rows.values()) {
      row.set(next, row.get(called))
      row.delete(called)
    }
  }

  #isOld(table: string, column: string): boolean {
    return this.old.get(table)?.columns.has(column) === true
  }

  convertColumn(): void {
    const [name, table] = this.table()
    const [called, column] = this.chance.pick([...table.columns])
    if (
      column.target !== undefined ||
      column.items !== undefined ||
      column.unique ||
      this.fill[name]?.[called] !== undefined ||
      !this.#isOld(name, called) ||
      this.old.get(name)!.columns.get(called)!.kind !== column.kind
    )
      return
    const ways = Object.keys(CONVERSIONS).filter(way => way.startsWith(`${column.kind} `) && !(this.isServer && OTHERS_ON_SERVER.has(way)))
    if (ways.length === 0) return
    const way = this.chance.pick(ways)
    const convert = CONVERSIONS[way]!
    const values = [...table.rows].map(([id, row]) => [id, row.get(called)] as const)
    const converted = values.map(([id, value]) => [id, value === null ? null : convert(value as never)] as const)
    if (converted.some(([, value]) => value === undefined)) this.refused ??= 'cannot become'
    column.kind = way.split(' ')[1] as Kind
    column.default = undefined
    for (const [id, value] of converted) table.rows.get(id)!.set(called, value)
  }

  changeNullable(): void {
    const [name, table] = this.table()
    const [called, column] = this.chance.pick([...table.columns])
    if (!this.#isOld(name, called) || this.fill[name]?.[called] !== undefined) return
    const isEmpty = [...table.rows.values()].some(row => row.get(called) === null)
    column.nullable = !column.nullable
    if (column.nullable || !isEmpty) return
    if (column.target !== undefined || this.chance.often(1, 4)) {
      this.refused ??= 'may be empty no more'
      return
    }
    const value = randomValue(column.kind, this.chance, column.items)
    this.fill[name] = { ...this.fill[name], [called]: value }
    for (const row of table.rows.values()) if (row.get(called) === null) row.set(called, value)
    const values = [...table.rows.values()].map(row => row.get(called))
    if (column.unique && new Set(values).size < values.length) this.refused ??= 'must be unique'
  }

  changeDefault(): void {
    const [name, table] = this.table()
    const [called, column] = this.chance.pick([...table.columns])
    // What this very change has added gave the rows its default: without one, it is refused.
    if (column.target !== undefined || !['integer', 'boolean'].includes(column.kind) || !this.#isOld(name, called)) return
    column.default = column.default === undefined ? randomValue(column.kind, this.chance) : undefined
  }

  changeUnique(): void {
    const [name, table] = this.table()
    const [called, column] = this.chance.pick([...table.columns])
    if (
      column.target !== undefined ||
      column.items !== undefined ||
      ['json', 'boolean'].includes(column.kind) ||
      column.unique ||
      !this.#isOld(name, called)
    )
      return
    column.unique = true
    const values = [...table.rows.values()].map(row => row.get(called)).filter(value => value !== null)
    if (new Set(values).size < values.length) this.refused ??= 'must be unique'
  }

  changeItems(): void {
    const [name, table] = this.table()
    const [called, column] = this.chance.pick([...table.columns])
    if (column.items === undefined || this.fill[name]?.[called] !== undefined) return
    column.default = undefined
    column.items = this.chance.pick([[...this.#items(), 'more'], undefined, ['x', 'y']])
    const { items } = column
    if (items !== undefined && [...table.rows.values()].some(row => row.get(called) !== null && !items.includes(row.get(called) as string)))
      this.refused ??= 'does not meet|do not meet'
  }

  dropLeft(): void {
    this.drop = 'all'
  }

  /** What a refused start has left: nothing. */
  entities(): NonNullable<EngineOptions['entities']> {
    const classes = new Map<string, unknown>()
    for (const [name, { columns }] of this.tables) {
      const properties: Record<string, unknown> = { id: p.integer().primary() }
      for (const [called, column] of columns) properties[called] = this.#property(called, column, classes)
      classes.set(name, defineEntity({ name: pascal(name), tableName: name, properties: properties as Record<string, never> }))
    }
    return [...classes.values()] as NonNullable<EngineOptions['entities']>
  }

  #property(called: string, column: RandomColumn, classes: ReadonlyMap<string, unknown>): unknown {
    const { kind, nullable, default: fallback, unique, index, items, target } = column
    type Builder = Record<'nullable' | 'unique' | 'index', () => Builder> & {
      default(value: unknown): Builder
      fieldName(name: string): Builder
    }
    if (target !== undefined) {
      return () => {
        const link = p.manyToOne(classes.get(target) as never).fieldName(called) as unknown as Builder
        return nullable ? link.nullable() : link
      }
    }
    const made = items === undefined ? makeProperty(kind) : p.enum([...items])
    let property = (made as Builder).fieldName(called)
    if (nullable) property = property.nullable()
    if (fallback !== undefined) property = property.default(fallback)
    if (unique) property = property.unique()
    if (index && kind !== 'json') property = property.index()
    return property
  }
}

function makeProperty(kind: Kind): object {
  if (kind === 'text') return p.text()
  if (kind === 'decimal') return p.decimal().precision(12).scale(2)
  return (p as unknown as Record<string, () => object>)[kind]!()
}

/** The name of the class of a table. */
export function pascal(name: string): string {
  return name
    .split('_')
    .map(word => word[0]!.toUpperCase() + word.slice(1))
    .join('')
}

const CHANGES: readonly Change[] = [
  world => world.addColumn(),
  world => world.addColumn(),
  world => world.removeColumn(),
  world => world.renameColumn(),
  world => world.convertColumn(),
  world => world.convertColumn(),
  world => world.changeNullable(),
  world => world.changeDefault(),
  world => world.changeUnique(),
  world => world.changeItems(),
  world => world.addTable(),
  world => world.dropLeft(),
]
