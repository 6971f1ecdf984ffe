/**
 * Translates defaults, generated columns, checks, indexes, views and triggers written for another database, unless SQLite can run the SQL.
 * Leaves out, with a note, what fails even translated.
 */
import { ArrayType, DateType, TimeType, isRaw } from '@mikro-orm/core'
import type { EntityMetadata, EntityProperty, MikroORM, Platform } from '@mikro-orm/core'
import type { ForeignModel } from './model.ts'
import { parseList } from './lists.ts'
import { isBuiltIn } from '../../../model/metadata/custom-type-codec.ts'
import { TypeProbe, adaptTypes } from './type-sql.ts'
import { NOW } from './translate-calls.ts'
import { isOfAnother, toSqlite } from './translate-sql.ts'
import { translateColumn } from '../orm/column-types.ts'
import { literal, name } from '../../sql/sql.ts'

/** Numbers, texts, words such as `current_timestamp`, and MikroORM's SQL for SQLite. */
const PLAIN = /^(?:-?\d+(?:\.\d+)?|'(?:[^']|'')*'|null|true|false|current_timestamp|\(strftime\('%s', 'now'\) \* 1000\))$/i

/** Texts that PostgreSQL takes for a time. */
const TIME_WORD = /^\(*\s*(?:now|'\s*(now|today)\s*')(?:::[\w ()]+)?\s*\)*$/i

const IS_NOW =
  /^\(*\s*(?:(?:now|clock_timestamp|statement_timestamp|transaction_timestamp|localtimestamp|sysdate|sysdatetime|getdate|getutcdate|sysutcdatetime|sysdatetimeoffset|utc_timestamp)\s*\(\s*\d?\s*\)|localtimestamp|current_timestamp\s*\(\s*\d?\s*\)|'now(?:\(\))?')\s*\)*$/i

export class ForeignSchema {
  readonly #model: ForeignModel
  readonly #orm: MikroORM
  readonly #platform: Platform
  readonly #probe = new TypeProbe()

  constructor(orm: MikroORM, model: ForeignModel) {
    this.#orm = orm
    this.#model = model
    this.#platform = orm.config.getPlatform()
  }

  /** Called before the schema is made. */
  adapt(): void {
    for (const meta of this.#orm.getMetadata()) {
      for (const prop of meta.props) this.#adaptProperty(meta, prop)
      if (meta.embeddable) continue
      this.#adaptChecks(meta)
      this.#adaptIndexes(meta)
      this.#adaptExpression(meta)
      if (meta.triggers.length > 0) this.#adaptTriggers(meta)
    }
    adaptTypes(this.#orm, this.#model, this.#probe)
    this.#probe.close()
  }

  #adaptProperty(meta: EntityMetadata, prop: EntityProperty): void {
    for (const [index, declared] of (prop.columnTypes ?? []).entries()) {
      const column = this.#holdsNumbers(prop, declared) ? 'numeric' : translateColumn(declared)
      if (column === declared) continue
      this.#model.found()
      // A foreign key has an array of types of its own.
      prop.columnTypes[index] = column
    }
    const rule = /^(set (?:null|default))\s*\(/i.exec(prop.deleteRule ?? '')?.[1]
    if (rule !== undefined) {
      prop.deleteRule = rule.toLowerCase()
      this.#model.found(
        `${meta.className}.${prop.name}: SQLite sets all columns of the link when the linked record goes, and not some of them.`,
      )
    }
    if (typeof prop.defaultRaw === 'string') this.#adaptDefault(meta, prop, prop.defaultRaw)
    // In an ejected model, the expression is the column's name.
    if (typeof prop.generated === 'string' && prop.generated !== prop.fieldNames?.[0]) this.#adaptGenerated(meta, prop, prop.generated)
  }

  /** A text column would make texts of numbers. */
  #holdsNumbers(prop: EntityProperty, declared: string): boolean {
    const { customType } = prop
    if (translateColumn(declared) !== 'text' || customType === undefined || isBuiltIn(customType)) return false
    if (customType.compareAsType() !== 'number') return false
    return !/char|clob|text/i.test(customType.getColumnType(prop, this.#platform))
  }

  #adaptDefault(meta: EntityMetadata, prop: EntityProperty, given: string): void {
    const place = `${meta.className}.${prop.name}`
    const list = prop.customType instanceof ArrayType ? parseList(given) : undefined
    if (list !== undefined) {
      const items = list.filter(item => item !== null)
      prop.defaultRaw = literal(this.#platform.marshallArray(items))
      return this.#model.mapped(`the default ${given} is a list`, place)
    }
    if (prop.runtimeType === 'Date' && /^'\d{4}-\d\d-\d\d[^']*'(?:::[\w ()]+)?$/.test(given)) {
      const time = Date.parse(
        `${given.slice(1, given.indexOf("'", 1)).replace(' ', 'T').replace(/Z$/, '')}${given.includes(':') ? 'Z' : ''}`,
      )
      if (!Number.isNaN(time)) {
        prop.defaultRaw = String(time)
        return this.#model.mapped(`the default ${given} is in milliseconds here`, place)
      }
    }
    // SQLite would store the text `now`.
    const isWord = isTimeWord(prop, given)
    if (!isWord && (PLAIN.test(given) || this.#probe.runs(`select ${given}`, false))) return
    const translated = this.#translateDefault(prop, isWord ? 'now()' : given)
    if (this.#isDefault(translated)) {
      prop.defaultRaw = translated
      return this.#model.mapped(`the default ${given} is in SQLite's words here`, place)
    }
    delete prop.defaultRaw
    delete prop.default
    const what = prop.nullable === true ? 'it is null where nobody gives it' : 'it must be given'
    this.#model.found(`${place}: SQLite cannot run its default, ${given}: ${what}.`)
  }

  /** In the form of stored values. */
  #translateDefault(prop: EntityProperty, given: string): string {
    const bare = toSqlite(given, this.#model.schemas)
    const isNow = IS_NOW.test(given) || bare.replaceAll(/^\(+|\)+$/g, '') === NOW.replaceAll(/^\(+|\)+$/g, '')
    if (isNow && prop.customType instanceof DateType) return "(date('now'))"
    if (isNow && prop.customType instanceof TimeType) return "(time('now'))"
    if (isNow && prop.runtimeType === 'string') return "(strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))"
    return /^(?:\(.*\)|-?[\d.]+|'(?:[^']|'')*'|\w+)$/s.test(bare) ? bare : `(${bare})`
  }

  #isDefault(sql: string): boolean {
    return this.#probe.runs(`create table t (k integer primary key, c default ${sql}); insert into t (k) values (1)`)
  }

  #adaptGenerated(meta: EntityMetadata, prop: EntityProperty, given: string): void {
    const [, inner = given, how = ''] = /^(.*?)\s*\b(stored|virtual|persisted)?\s*$/is.exec(given) ?? []
    const columns = this.#listColumns(meta, prop)
    const declared = (sql: string): string =>
      `create table t (${[...columns, `${name(prop.fieldNames[0]!)} generated always as ${sql}`].join(', ')})`
    if (this.#probe.runs(declared(given), false)) return
    const kind = how.toLowerCase() === 'persisted' ? 'stored' : how.toLowerCase()
    const bare = toSqlite(inner, this.#model.schemas).trim()
    const translated = `${/^\(.*\)$/s.test(bare) ? bare : `(${bare})`} ${kind}`.trim()
    if (this.#probe.runs(declared(translated))) {
      prop.generated = translated
      return this.#model.mapped("the expression that it is generated by is in SQLite's words here", `${meta.className}.${prop.name}`)
    }
    // A missing table or column is reported when the schema is made.
    if (!isOfAnother(this.#probe.findProblem(declared(translated)))) return
    prop.generated = '(null) virtual'
    prop.nullable = true
    this.#model.found(`${meta.className}.${prop.name}: SQLite cannot run the expression that it is generated by, ${given}: it is null.`)
  }

  /** The stored columns, but for a property's. */
  #listColumns(meta: EntityMetadata, without?: EntityProperty): string[] {
    const props = meta.props.filter(prop => prop !== without && prop.persist !== false && prop.formula === undefined && prop.kind !== '1:m')
    return [...new Set(props.flatMap(prop => prop.fieldNames ?? []))].filter(field => !without?.fieldNames.includes(field)).map(name)
  }

  #adaptChecks(meta: EntityMetadata): void {
    meta.checks = meta.checks.filter(check => {
      const given = isRaw(check.expression) ? this.#platform.formatQuery(check.expression.sql, check.expression.params) : check.expression
      if (typeof given !== 'string') return true
      const columns = this.#listColumns(meta).join(', ')
      const declared = (sql: string): string => `create table t (${columns}, check (${sql}))`
      if (this.#probe.runs(declared(given), false)) return true
      const translated = toSqlite(given, this.#model.schemas)
      if (this.#probe.runs(declared(translated))) {
        check.expression = translated
        this.#model.mapped(`the check "${check.name}" is in SQLite's words here`, meta.className)
        return true
      }
      if (!isOfAnother(this.#probe.findProblem(declared(translated)))) return true
      this.#model.found(`${meta.className}: SQLite cannot run the check "${check.name}", ${given}: nothing is checked by it.`)
      return false
    })
  }

  #adaptIndexes(meta: EntityMetadata): void {
    if (meta.view === true) {
      // MikroORM cannot make materialized views on SQLite.
      if (meta.materialized === true) {
        meta.materialized = false
        this.#model.found(`${meta.className} is a view that is always up to date here: SQLite has no materialized ones.`)
      }
      meta.indexes = []
      meta.uniques = []
      return
    }
    type Index = EntityMetadata['indexes'][number]
    const keep = (index: Index, isUnique: boolean): boolean => {
      const label = `${meta.className}: the ${isUnique ? 'unique ' : ''}index${index.name === undefined ? '' : ` "${index.name}"`}`
      if (index.expression !== undefined) return this.#adaptIndexExpression(meta, index, label, isUnique)
      if (!isOrdinaryMethod(index.type)) {
        this.#model.found(`${label} is of the type ${String(index.type)}, which SQLite does not have: it is left out.`)
        return false
      }
      for (const column of index.columns ?? []) {
        if (column.nulls === undefined && (column.collation === undefined || /^(?:binary|nocase|rtrim)$/i.test(column.collation))) continue
        delete column.nulls
        delete column.collation
        this.#model.found()
      }
      if (typeof index.where !== 'string') return true
      return this.#adaptIndexWhere(meta, index, index.where, label)
    }
    meta.indexes = meta.indexes.filter(index => keep(index, false))
    meta.uniques = meta.uniques.filter(index => keep(index as Index, true))
  }

  #adaptIndexWhere(meta: EntityMetadata, index: { where?: unknown }, given: string, label: string): boolean {
    const made = (sql: string): string => `create table t (${this.#listColumns(meta).join(', ')}); create index i on t (1) where ${sql}`
    if (this.#probe.runs(made(given), false)) return true
    const translated = toSqlite(given, this.#model.schemas)
    index.where = translated
    if (this.#probe.runs(made(translated))) return (this.#model.found(), true)
    this.#model.found(`${label} has the condition ${given}, which SQLite cannot run: it is left out.`)
    return false
  }

  #adaptIndexExpression(meta: EntityMetadata, index: EntityMetadata['indexes'][number], label: string, isUnique: boolean): boolean {
    const given = this.#formatExpression(meta, index)
    if (given === undefined) return true
    const tables = `create table ${name(meta.tableName)} (${this.#listColumns(meta).join(', ')})`
    if (this.#probe.runs(`${tables}; ${given}`, false)) return true
    const translated = toSqliteIndex(given, this.#model.schemas)
    if (translated !== undefined && this.#probe.runs(`${tables}; ${translated}`)) {
      index.expression = translated
      this.#model.mapped(`the index${index.name === undefined ? '' : ` "${index.name}"`} is in SQLite's words here`, meta.className)
      return true
    }
    if (translated !== undefined && !isOfAnother(this.#probe.findProblem(`${tables}; ${translated}`))) return true
    const without = isUnique || /\bunique\b/i.test(given) ? ': nothing is unique by it' : ', which costs nothing but time'
    this.#model.found(`${label} is one that SQLite does not have (${given.trim()})${without}.`)
    return false
  }

  #formatExpression(meta: EntityMetadata, { expression, name: called }: EntityMetadata['indexes'][number]): string | undefined {
    if (typeof expression !== 'function') return expression
    const table = { name: meta.tableName, schema: undefined, qualifiedName: meta.tableName, toString: () => meta.tableName }
    const made: unknown = (expression as (...args: unknown[]) => unknown)(meta.createSchemaColumnMappingObject(), table, called)
    return isRaw(made) ? this.#platform.formatQuery(made.sql, made.params) : String(made)
  }

  /** Triggers are not translated: the effect is unknown. */
  #adaptTriggers(meta: EntityMetadata): void {
    const table = { name: meta.tableName, getQuotedName: () => name(meta.tableName) }
    meta.triggers = meta.triggers.filter(trigger => {
      const body = isRaw(trigger.body) ? this.#platform.formatQuery(trigger.body.sql, trigger.body.params) : (trigger.body ?? '')
      const helper = this.#platform.getSchemaHelper() as { createTrigger(table: object, trigger: object): string }
      const made = helper.createTrigger(table, { ...trigger, forEach: trigger.forEach ?? 'row', body })
      if (this.#probe.runs(`create table ${name(meta.tableName)} (${this.#listColumns(meta).join(', ')}); ${made}`)) return true
      this.#model.found(`${meta.className}: SQLite cannot run the trigger "${trigger.name}": it is left out.`)
      return false
    })
  }

  #adaptExpression(meta: EntityMetadata): void {
    if (typeof meta.expression !== 'string') return
    const translated = toSqlite(meta.expression, this.#model.schemas)
    if (translated === meta.expression) return
    meta.expression = translated
    this.#model.found()
  }
}

/** `today` is midnight, so only a date takes `today`. */
function isTimeWord({ customType, runtimeType }: EntityProperty, given: string): boolean {
  const match = TIME_WORD.exec(given)
  if (match === null) return false
  if (customType instanceof DateType) return true
  return match[1]?.toLowerCase() !== 'today' && (runtimeType === 'Date' || customType instanceof TimeType)
}

/** Methods of indexes that SQLite lacks. */
const OTHER_METHODS = /^(?:gin|gist|spgist|brin|ivfflat|hnsw|bloom|rum|fulltext|spatial|vector)$/i

function isOrdinaryMethod(method: string | undefined): boolean {
  return method === undefined || !OTHER_METHODS.test(method)
}

/** @returns undefined where SQLite has no such index */
function toSqliteIndex(sql: string, schemas: Iterable<string>): string | undefined {
  const using = /\busing\s+"?(\w+)"?/i.exec(sql)
  if (!isOrdinaryMethod(using?.[1])) return undefined
  const altered =
    /^\s*alter\s+table\s+(\S+)\s+add\s+(unique\s+)?(fulltext\s+|spatial\s+)?(?:index|key|constraint)\s+(\S+)\s*(?:unique\s*)?(\(.*\))\s*;?\s*$/is.exec(
      sql,
    )
  if (altered !== null) {
    const [, table = '', unique, other, name = '', columns = ''] = altered
    if (other !== undefined) return undefined
    return toSqlite(
      `create ${unique !== undefined || /constraint\s+\S+\s+unique/i.test(sql) ? 'unique ' : ''}index ${name} on ${table} ${columns}`,
      schemas,
    )
  }
  if (/\bcreate\s+(?:fulltext|spatial)\b/i.test(sql)) return undefined
  const plain = sql
    .replace(/\bconcurrently\b/i, '')
    .replace(/\busing\s+"?\w+"?/i, '')
    .replace(/\bon\s+only\b/i, 'on')
    .replaceAll(/\binclude\s*\([^)]*\)/gi, '')
    .replaceAll(/\s+nulls\s+(?:not\s+)?(?:first|last|distinct)\b/gi, '')
    .replaceAll(/\s+\w+_ops\b/gi, '')
    .replace(/\bwith\s*\(\s*\w+\s*=[^)]*\)/i, '')
    .replace(/;\s*$/, '')
  return toSqlite(plain, schemas)
}
