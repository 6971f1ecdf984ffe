/**
 * Known statements: MikroORM puts the statements of its unit of work together anew for every record, which costs several times what running them does.
 * Those for one record of a plain entity depend on its properties alone, not on their values. So MikroORM is asked once for each shape, with a probe in
 * the place of the transaction, which notes the statement instead of running it; and with texts in the places of the values, which tell where these go.
 * Whatever does not come out as one statement with each value once is left to MikroORM, and so is every entity and value that is not plain.
 */
import { ReferenceKind } from '@mikro-orm/core'
import type { EntityMetadata, EntityProperty, MetadataStorage, Transaction } from '@mikro-orm/core'
import { LruCache } from '../../base/lru-cache.ts'

/** A value that a statement takes as it is. */
type Plain = string | number | bigint | boolean | null

/** A statement, with the values that it binds. */
export interface Bound {
  readonly sql: string
  readonly parameters: readonly unknown[]
}

/** The text of a shape, and where each parameter comes from: a position among the values, or a constant. */
interface KnownStatement {
  readonly sql: string
  readonly sources: readonly { readonly at: number; readonly constant?: unknown }[]
}

/** Stands in the place of a transaction, and notes the statements that MikroORM would run in it. */
export class RecordingTransaction {
  readonly noted: Bound[] = []

  get transaction(): Transaction {
    return this
  }

  note(sql: unknown, parameters: unknown): void {
    // What is no text is counted as well: there is to be one statement.
    this.noted.push({ sql: typeof sql === 'string' ? sql : '', parameters: Array.isArray(parameters) ? parameters : [] })
  }
}

/** How many shapes are kept for one entity. */
const SHAPES = 200
/** How many bytes of them: a shape names each property of each row. */
const SHAPE_BYTES = 2 << 20

function weigh(statement: KnownStatement | 'other', key: string): number {
  return 2 * key.length + (statement === 'other' ? 100 : 2 * statement.sql.length + 100 * statement.sources.length)
}

/** By what is found out about the entities, which an engine shares with its forks. */
const known = new WeakMap<MetadataStorage, StatementTemplates>()

/** The statements of one model. */
export class StatementTemplates {
  /** Nothing for entities that are not plain. */
  readonly #shapes = new Map<EntityMetadata, LruCache<KnownStatement | 'other'> | undefined>()

  static of(metadata: MetadataStorage): StatementTemplates {
    let statements = known.get(metadata)
    if (statements === undefined) known.set(metadata, (statements = new StatementTemplates()))
    return statements
  }

  /**
   * The statement for these values, bound.
   *
   * @param what names what is asked for; together with the shape of the rows it decides on the text
   * @param rows properties with their values
   * @param ask asks MikroORM, with other rows of the same shape and the probe as its transaction
   * @returns undefined when MikroORM must be asked every time
   */
  find(
    what: string,
    meta: EntityMetadata,
    rows: readonly object[],
    ask: (rows: readonly Record<string, unknown>[], probe: Transaction) => Promise<unknown>,
  ): Bound | undefined | Promise<Bound | undefined> {
    const shapes = this.#shapesOf(meta)
    if (shapes === undefined) return undefined
    let key = what
    const values: Plain[] = []
    for (const row of rows) {
      key += '\0'
      for (const name in row) {
        const value = (row as Record<string, unknown>)[name]
        if (!isPlainValue(value)) return undefined
        key += value === null ? `${name}-,` : `${name},`
        values.push(value)
      }
    }
    const statement = shapes.get(key)
    if (statement === 'other') return undefined
    if (statement !== undefined) return bind(statement, values)
    return learn(meta, rows, ask).then(learnt => {
      shapes.set(key, learnt ?? 'other')
      return learnt && bind(learnt, values)
    })
  }

  #shapesOf(meta: EntityMetadata): LruCache<KnownStatement | 'other'> | undefined {
    const shapes = this.#shapes.get(meta)
    if (shapes !== undefined || this.#shapes.has(meta)) return shapes
    const made = isPlainEntity(meta) ? new LruCache<KnownStatement | 'other'>(SHAPES, { bytes: SHAPE_BYTES, weigh }) : undefined
    this.#shapes.set(meta, made)
    return made
  }
}

/** Whether the entity is one table and no more: those that share one, or have several, differ by record in what is written. */
export function isPlainEntity(meta: EntityMetadata): boolean {
  return meta.root === meta && !meta.inheritanceType && !meta.virtual && !meta.view && !meta.pivotTable && !meta.schema
}

async function learn(
  meta: EntityMetadata,
  rows: readonly object[],
  ask: (rows: readonly Record<string, unknown>[], probe: Transaction) => Promise<unknown>,
): Promise<KnownStatement | undefined> {
  if (!rows.every(row => Object.keys(row).every(name => hasOneColumn(meta.properties[name as never])))) return undefined
  const marks: (string | undefined)[] = []
  const probing = rows.map(row =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => {
        const mark = value === null ? undefined : `\u0001 value ${marks.length}`
        marks.push(mark)
        return [name, mark ?? null]
      }),
    ),
  )
  const probe = new RecordingTransaction()
  try {
    await ask(probing, probe.transaction)
  } catch {
    // A type that takes no text in the place of its value; whatever else is wrong will be told when MikroORM is asked in earnest.
    return undefined
  }
  const [statement] = probe.noted
  if (statement === undefined || probe.noted.length > 1 || statement.sql === '') return undefined
  const sources = statement.parameters.map(parameter => {
    const at = typeof parameter === 'string' ? marks.indexOf(parameter) : -1
    return at < 0 ? { at, constant: parameter } : { at }
  })
  const found = sources.filter(({ at }) => at >= 0).map(({ at }) => at)
  const given = marks.flatMap((mark, at) => (mark === undefined ? [] : [at]))
  const isWhole = found.length === given.length && given.every(at => found.includes(at))
  return isWhole && sources.every(({ at, constant }) => at >= 0 || isPlainValue(constant)) ? { sql: statement.sql, sources } : undefined
}

function bind({ sql, sources }: KnownStatement, values: readonly Plain[]): Bound {
  return { sql, parameters: sources.map(({ at, constant }) => (at < 0 ? constant : values[at])) }
}

function isPlainValue(value: unknown): value is Plain {
  switch (typeof value) {
    case 'string':
    case 'number':
    case 'bigint':
    case 'boolean':
      return true
    default:
      return value === null
  }
}

function hasOneColumn(prop: EntityProperty | undefined): boolean {
  return (
    prop !== undefined &&
    (prop.kind === ReferenceKind.SCALAR || prop.kind === ReferenceKind.MANY_TO_ONE || prop.kind === ReferenceKind.ONE_TO_ONE) &&
    prop.fieldNames?.length === 1 &&
    prop.polymorphic !== true &&
    prop.stiFieldNames === undefined
  )
}
