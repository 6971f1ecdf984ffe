/**
 * Caches the statements of MikroORM's unit of work, which builds them again for every record at several times the cost of running them.
 * For one record of a plain entity they depend on its properties alone. So MikroORM is asked once for each shape, with a recording
 * transaction that does not run statements, and with marker texts whose positions show where values go. Shapes with any other result, and
 * entities and values that are not plain, are left to MikroORM.
 */
import { ReferenceKind } from '@mikro-orm/core'
import type { EntityMetadata, EntityProperty, MetadataStorage, Transaction } from '@mikro-orm/core'
import { LruCache } from '../../base/lru-cache.ts'
import { isPlainEntity } from '../../orm/find-record.ts'

/** A value that can be bound without conversion. */
type Plain = string | number | bigint | boolean | null

/** A statement, with the values that it binds. */
export interface Bound {
  readonly sql: string
  readonly parameters: readonly unknown[]
}

/** The text of a shape, and the source of each parameter: a position among the values, or a constant. */
interface KnownStatement {
  readonly sql: string
  readonly sources: readonly { readonly at: number; readonly constant?: unknown }[]
}

/** Replaces a transaction, and notes the statements that MikroORM would run in it. */
export class RecordingTransaction {
  readonly noted: Bound[] = []

  get transaction(): Transaction {
    return this
  }

  note(sql: unknown, parameters: unknown): void {
    // Statements other than texts count as well, because only a single statement can be cached.
    this.noted.push({ sql: typeof sql === 'string' ? sql : '', parameters: Array.isArray(parameters) ? parameters : [] })
  }
}

/** Limit of the cached shapes of one entity. */
const SHAPES = 200
/** Limit of their bytes. A shape names each property of each row. */
const SHAPE_BYTES = 2 << 20

function weigh(statement: KnownStatement | 'other', key: string): number {
  return 2 * key.length + (statement === 'other' ? 100 : 2 * statement.sql.length + 100 * statement.sources.length)
}

/** The templates by metadata, which an engine shares with its forks. */
const known = new WeakMap<MetadataStorage, StatementTemplates>()

/** The statements of one model. */
export class StatementTemplates {
  /** Undefined for entities that are not plain. */
  readonly #shapes = new Map<EntityMetadata, LruCache<KnownStatement | 'other'> | undefined>()

  static of(metadata: MetadataStorage): StatementTemplates {
    let statements = known.get(metadata)
    if (statements === undefined) known.set(metadata, (statements = new StatementTemplates()))
    return statements
  }

  /**
   * Returns the statement for these values.
   *
   * @param what names the operation; together with the shape of the rows it determines the text
   * @param rows properties with their values
   * @param ask asks MikroORM, with other rows of the same shape and a recording transaction
   * @returns undefined when MikroORM must be asked every time
   */
  find(
    what: string,
    meta: EntityMetadata,
    rows: readonly object[],
    ask: (rows: readonly Record<string, unknown>[], probe: Transaction) => Promise<unknown>,
  ): Bound | undefined | Promise<Bound | undefined> {
    const shapes = this.#findShapes(meta)
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

  #findShapes(meta: EntityMetadata): LruCache<KnownStatement | 'other'> | undefined {
    const shapes = this.#shapes.get(meta)
    if (shapes !== undefined || this.#shapes.has(meta)) return shapes
    const made = isPlainEntity(meta) ? new LruCache<KnownStatement | 'other'>(SHAPES, { bytes: SHAPE_BYTES, weigh }) : undefined
    this.#shapes.set(meta, made)
    return made
  }
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
    // The type does not accept a text in place of its value. Other errors occur again when MikroORM runs the statement.
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
