/** Makes entities written for PostgreSQL or MySQL fit SQLite, in MikroORM's metadata, during discovery. Notes all changes and omissions. */
import { ArrayType, BigIntType, Type, UnknownType } from '@mikro-orm/core'
import type { EntityManager, EntityMetadata, EntityName, EntityProperty, Platform } from '@mikro-orm/core'
import type { Notes } from '../../../foundation/errors/notes.ts'
import { translateColumn, ignoresCase, isSerial, findItemType, findMeaning } from '../orm/column-types.ts'
import { DescribedType } from '../../../model/metadata/described-type.ts'
import { parseItems } from './lists.ts'
import type { SharedSqliteDialect } from '../orm/shared-dialect.ts'
import { literal } from '../../sql/sql.ts'
import type { ScalarType } from '../../../foundation/values/scalar-type.ts'

type MutableProperty = { -readonly [K in keyof EntityProperty]?: unknown } & Pick<EntityProperty, 'name'>

const SHOWN = 3

const OWN_COLLATIONS = new Set(['binary', 'nocase', 'rtrim'])

/** Keeps the source text for search. */
class FullText extends DescribedType {
  override readonly scalar: ScalarType = Object.freeze({ kind: 'text' })
  override readonly ordersRecords = false

  override convertToDatabaseValue(value: unknown): string | null {
    if (typeof value === 'string') return value
    if (value === null || typeof value !== 'object') return null
    // Texts by their weight: `{ A: title, B: body }`.
    const parts: unknown[] = Object.values(value)
    return parts.filter(part => typeof part === 'string').join(' ')
  }

  override compareAsType(): string {
    return 'string'
  }

  override getColumnType(): string {
    return 'text'
  }
}

function listType(items: 'number' | 'boolean'): ArrayType<number | boolean> {
  return new ArrayType<number | boolean>(
    item => (items === 'number' ? Number(item) : /^(?:t|true|1)$/i.test(item)),
    item => String(item),
  )
}

function isPlain(type: unknown): boolean {
  if (type instanceof ArrayType) return type.constructor === ArrayType && type.convertToJSValue(['7'], undefined as never)?.[0] === '7'
  return type === ArrayType || (typeof type !== 'function' && !(type instanceof Type))
}

function numbered(name: string): (entity: object, em: EntityManager) => number | bigint | string {
  return (entity, em) => {
    const meta = em.getMetadata().get(entity.constructor as EntityName)
    const prop = meta.properties[name] as EntityProperty
    const { host } = em.config.get('driverOptions') as SharedSqliteDialect
    const number = host.nextNumber(meta.tableName, prop.fieldNames[0]!)
    const { customType } = prop
    if (!(customType instanceof BigIntType)) return Number(number)
    return customType.mode === 'number' ? Number(number) : customType.mode === 'string' ? String(number) : number
  }
}

/** In a column of an unknown type, SQLite would take some texts for numbers. */
function keepText(given: EntityProperty, platform: Platform): void {
  const prop = given as MutableProperty
  const isPlainScalar = (prop.kind === undefined || prop.kind === 'scalar') && prop.customType === undefined && prop.items === undefined
  if (!isPlainScalar || prop.enum === true || prop.array === true || prop.columnTypes !== undefined || typeof prop.type !== 'string') return
  if (!(platform.getMappedType(prop.type) instanceof UnknownType)) return
  prop.columnTypes = ['text']
  // Else MikroORM would conclude that a text was meant.
  prop.runtimeType ??= 'unknown'
}

export class ForeignModel {
  readonly #notes: Notes
  /** Schemas by table. */
  readonly #tables = new Map<string, string>()
  readonly #schemas = new Set<string>()
  readonly #mapped = new Map<string, Set<string>>()
  #isForeign = false

  constructor(notes: Notes) {
    this.#notes = notes
  }

  get isForeign(): boolean {
    return this.#isForeign
  }

  found(note?: string): void {
    this.#isForeign = true
    if (note !== undefined) this.#notes.add(note)
  }

  mapped(what: string, place: string): void {
    this.#isForeign = true
    const places = this.#mapped.get(what)
    if (places === undefined) this.#mapped.set(what, new Set([place]))
    else places.add(place)
  }

  /** Called after the last `mapped`. */
  noteMapped(): void {
    for (const [what, places] of this.#mapped) {
      const shown = [...places].slice(0, SHOWN).join(', ')
      const more = places.size > SHOWN ? ` and ${places.size - SHOWN} more` : ''
      this.#notes.add(`${shown}${more}: ${what}.`)
    }
    this.#mapped.clear()
  }

  get schemas(): ReadonlySet<string> {
    return this.#schemas
  }

  adapt(meta: EntityMetadata, platform: Platform): void {
    this.#leaveSchema(meta)
    for (const prop of Object.values(meta.properties)) {
      this.#adaptProperty(meta, prop)
      keepText(prop, platform)
    }
  }

  #leaveSchema(meta: EntityMetadata): void {
    const { schema, tableName } = meta
    if (schema !== undefined) {
      delete meta.schema
      this.#schemas.add(schema)
      this.mapped(
        schema === '*'
          ? 'the table is in one schema here, since SQLite has no more'
          : `the schema "${schema}" is left out, since SQLite has one`,
        meta.className,
      )
    }
    if (tableName === undefined || meta.embeddable) return
    const parts = tableName.split('.')
    if (parts.length === 2 && schema === undefined) {
      this.#schemas.add(parts[0]!)
      this.found()
      meta.tableName = parts[1]!
    }
    const ownSchema = schema ?? (parts.length === 2 ? parts[0]! : '')
    const other = this.#tables.get(meta.tableName)
    if (other === undefined) this.#tables.set(meta.tableName, ownSchema)
    else if (other !== ownSchema && meta.extends === undefined) {
      const name = `${ownSchema || 'public'}_${meta.tableName}`
      this.found(
        `${meta.className}: two schemas have a table "${meta.tableName}"; that of "${ownSchema || 'public'}" is called "${name}" here.`,
      )
      meta.tableName = name
    }
  }

  #adaptProperty(meta: EntityMetadata, given: EntityProperty): void {
    const prop = given as MutableProperty
    const place = `${meta.className}.${given.name}`
    if (typeof prop.pivotTable === 'string' && prop.pivotTable.includes('.')) {
      prop.pivotTable = prop.pivotTable.slice(prop.pivotTable.indexOf('.') + 1)
      this.found()
    }
    if (prop.nativeEnumName !== undefined) {
      this.mapped(`the type "${prop.nativeEnumName as string}" is a text with a check here`, place)
      delete prop.nativeEnumName
      // MikroORM makes a check of the items.
      if (Array.isArray(prop.items) && (prop.columnTypes as unknown[] | undefined)?.length === 1) delete prop.columnTypes
    }
    this.#adaptType(prop, place)
    this.#adaptCollation(prop, place)
    this.#adaptNumbering(prop, place)
    if (typeof prop.extra === 'string' && /on update (?:current_timestamp|now)/i.test(prop.extra) && prop.onUpdate === undefined) {
      prop.onUpdate = () => new Date()
      this.found(`${place}: MikroORM sets the time of a change, which MySQL does by "${prop.extra}".`)
    }
  }

  #adaptType(prop: MutableProperty, place: string): void {
    const declared = (prop.columnTypes as string[] | undefined)?.[0]
    // The type of a relation or object is its entity's name.
    const isScalar = prop.kind === undefined || prop.kind === 'scalar'
    const named = declared ?? (isScalar && typeof prop.type === 'string' ? prop.type : undefined)
    const type = prop.type
    const typeName = typeof type === 'function' ? type.name : (type as object | undefined)?.constructor.name
    if (typeName === 'FullTextType') {
      prop.type = prop.runtimeType = undefined
      prop.customType = new FullText()
      delete prop.columnTypes
      return this.found(`${place}: a full-text vector is the text itself here, which filters search.`)
    }
    // A union of types comes from an entity's source, not from a database.
    if (named === undefined || named.includes(' | ')) return
    this.#adaptList(prop, named, typeName)
    if (/^jsonb?$/i.test(named) && typeof prop.default === 'string') {
      // MikroORM would take the text for the value, and the column for a column of texts.
      prop.defaultRaw ??= literal(prop.default)
      delete prop.default
    }
    if (ignoresCase(named)) {
      prop.collation ??= 'nocase'
      this.mapped('citext is text that is unique without regard to case; filters compare it as other text, and "~=" ignores case', place)
    }
    const enumItems = /^enum\s*\((.*)\)$/is.exec(named)?.[1]
    if (enumItems !== undefined && prop.items === undefined) {
      prop.items = [...enumItems.matchAll(/'((?:[^']|'')*)'/g)].map(([, item = '']) => item.replaceAll("''", "'"))
      prop.enum = true
      delete prop.columnTypes
      return this.found()
    }
    const meaning = findMeaning(named)
    // From the type's name MikroORM concludes all else.
    if (meaning !== undefined && declared === undefined) prop.type = meaning
    // MikroORM has a type of its own by the name `buffer`.
    if (meaning === 'blob' && (prop.type === 'blob' || prop.type === declared)) prop.type = 'buffer'
    const [, length] = /^(?:var|n|nvar|bp)?char(?:acter(?: varying)?)?2?\s*\((\d+)\)$/i.exec(named) ?? []
    if (length !== undefined) prop.length ??= Number(length)
    if (translateColumn(named) !== named) this.mapped(`the type ${named} is ${translateColumn(named)} here`, place)
  }

  #adaptList(prop: MutableProperty, named: string, typeName: string | undefined): void {
    const items = findItemType(named)
    const isPlainList = isPlain(prop.type) && isPlain(prop.customType)
    if (items !== undefined && isPlainList && prop.kind === 'scalar' && prop.items === undefined) {
      prop.customType = listType(items)
      prop.type = 'array'
      this.found()
    }
    if ((prop.array === true || /\[\]$|^array$/i.test(named) || typeName === 'ArrayType') && typeof prop.default === 'string') {
      const list = parseItems(prop.default)
      if (list !== undefined) {
        prop.default = list
        this.found()
      }
    }
  }

  #adaptCollation(prop: MutableProperty, place: string): void {
    const { collation } = prop
    if (typeof collation !== 'string' || OWN_COLLATIONS.has(collation.toLowerCase())) return
    if (/_ci$|_ai_ci|case_insensitive|und-u-ks/i.test(collation)) prop.collation = 'nocase'
    else delete prop.collation
    const instead = prop.collation === undefined ? 'text is compared by code point' : 'nocase is in its place'
    this.mapped(`SQLite has no collation "${collation}": ${instead}`, place)
  }

  /** The engine numbers columns other than the key. */
  #adaptNumbering(prop: MutableProperty, place: string): void {
    const declared = (prop.columnTypes as string[] | undefined)?.[0] ?? (typeof prop.type === 'string' ? prop.type : '')
    const isIdentity =
      typeof prop.generated === 'string' && (/\bidentity\b/i.test(prop.generated) || /^(?:always|by default)$/i.test(prop.generated))
    const isSequence = typeof prop.defaultRaw === 'string' && /^\(?\s*nextval\s*\(/i.test(prop.defaultRaw)
    const isCounted = prop.primary !== true && (prop.autoincrement === true || isSerial(declared))
    if (!isIdentity && !isSequence && !isCounted) return
    if (isIdentity) delete prop.generated
    if (isSequence || prop.autoincrement === true) delete prop.defaultRaw
    if (prop.primary === true) {
      prop.autoincrement = true
      return this.mapped('SQLite numbers the rows', place)
    }
    if (prop.autoincrement === true) delete prop.default
    prop.autoincrement = false
    prop.onCreate ??= numbered(prop.name)
    this.found(`${place}: the engine numbers its rows, from the highest that is there.`)
  }
}
