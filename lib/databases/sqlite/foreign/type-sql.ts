/**
 * Adapts `convertToJSValueSQL` and `convertToDatabaseValueSQL` of custom types for another database. SQL that SQLite cannot run is
 * translated if values read back as written, else left out with a note: the column holds the plain value.
 */
import type { MikroORM, Platform, Type } from '@mikro-orm/core'
import { addForeignFunctions } from '../database/foreign-functions.ts'
import { openRaw } from '../driver/open-raw.ts'
import type { RawDatabase } from '../driver/raw-database.ts'
import type { ForeignModel } from './model.ts'
import { toSqlite } from './translate-sql.ts'

export class TypeProbe {
  #plain: RawDatabase | undefined
  #foreign: RawDatabase | undefined

  /** @param withForeign functions of other databases may be called */
  runs(sql: string, withForeign = true): boolean {
    return this.findProblem(sql, withForeign) === undefined
  }

  findProblem(sql: string, withForeign = true): string | undefined {
    const db = this.#open(withForeign)
    db.exec('begin')
    try {
      db.exec(sql)
      return undefined
    } catch (error) {
      return (error as Error).message
    } finally {
      db.exec('rollback')
    }
  }

  /** @returns undefined where SQLite does not run the query */
  evaluate(sql: string, withForeign = true): unknown {
    try {
      return this.#open(withForeign).prepare(sql).pluck().get()
    } catch {
      // The text is of another dialect.
      return undefined
    }
  }

  close(): void {
    this.#plain?.close()
    this.#foreign?.close()
    this.#plain = this.#foreign = undefined
  }

  #open(withForeign: boolean): RawDatabase {
    const known = withForeign ? this.#foreign : this.#plain
    if (known !== undefined) return known
    const db = openRaw(':memory:')
    if (withForeign) {
      addForeignFunctions(db, () => new Date())
      this.#foreign = db
    } else this.#plain = db
    return db
  }
}

const METHODS = ['convertToJSValueSQL', 'convertToDatabaseValueSQL'] as const

type SqlMethods = Readonly<Record<(typeof METHODS)[number], (key: string) => string>>

/** A translation must keep either value. */
const SAMPLES = ['12', "'12'"]

/** Changed types are heirs. */
export function adaptTypes(orm: MikroORM, model: ForeignModel, probe: TypeProbe): void {
  const platform = orm.config.getPlatform()
  const adapted = new Map<object, Type<unknown, unknown>>()
  const adapt = (type: Type<unknown, unknown>, place: string): Type<unknown, unknown> => {
    const known = adapted.get(type)
    if (known !== undefined) return known
    const changed = adaptType(type, { platform, model, probe, place })
    adapted.set(type, changed).set(changed, changed)
    return changed
  }
  const returnsSql = (type: Type<unknown, unknown>, method: (typeof METHODS)[number]): boolean =>
    (type[method]?.('', platform) ?? '') !== ''
  for (const meta of orm.getMetadata()) {
    for (const prop of meta.props) {
      if (!prop.hasConvertToJSValueSQL && !prop.hasConvertToDatabaseValueSQL) continue
      const place = `${meta.className}.${prop.name}`
      const ownType = prop.customType as Type<unknown, unknown> | undefined
      if (ownType !== undefined) prop.customType = adapt(ownType, place)
      const { customTypes = [] } = prop as { customTypes?: (Type<unknown, unknown> | undefined)[] }
      for (const [index, type] of customTypes.entries()) if (type !== undefined) customTypes[index] = adapt(type, place)
      const types = [prop.customType as Type<unknown, unknown> | undefined, ...customTypes].filter(type => type !== undefined)
      prop.hasConvertToJSValueSQL = types.some(type => returnsSql(type, 'convertToJSValueSQL'))
      prop.hasConvertToDatabaseValueSQL = types.some(type => returnsSql(type, 'convertToDatabaseValueSQL'))
    }
  }
}

interface Adapting {
  readonly platform: Platform
  readonly model: ForeignModel
  readonly probe: TypeProbe
  readonly place: string
}

/** @returns the type, or an heir with SQL that SQLite runs */
function adaptType(type: Type<unknown, unknown>, { platform, model, probe, place }: Adapting): Type<unknown, unknown> {
  const written: SqlMethods = {
    convertToJSValueSQL: key => type.convertToJSValueSQL?.(key, platform) ?? key,
    convertToDatabaseValueSQL: key => type.convertToDatabaseValueSQL?.(key, platform) ?? key,
  }
  const unusable = METHODS.map(method => written[method]('null')).filter(sql => !probe.runs(`select ${sql}`, false))
  if (unusable.length === 0) return type
  model.found()
  if (unusable.every(sql => probe.runs(`select ${sql}`))) return type
  const translated: SqlMethods = {
    convertToJSValueSQL: key => toSqlite(written.convertToJSValueSQL(key), model.schemas),
    convertToDatabaseValueSQL: key => toSqlite(written.convertToDatabaseValueSQL(key), model.schemas),
  }
  if (keepsValues(translated, probe)) {
    model.mapped("the SQL of its type is in SQLite's words here", place)
    return replaceSql(type, translated)
  }
  model.found(`${place}: SQLite cannot run the SQL of its type, ${unusable.join(' and ')}: the column holds the plain value.`)
  return replaceSql(type, { convertToJSValueSQL: key => key, convertToDatabaseValueSQL: key => key })
}

/** Values read back as written, and keep their storage class, to sort and compare as before. */
function keepsValues({ convertToJSValueSQL: read, convertToDatabaseValueSQL: write }: SqlMethods, probe: TypeProbe): boolean {
  return SAMPLES.some(sample => {
    const stored = write(sample)
    const back = read(stored)
    return (
      probe.evaluate(`select typeof(${stored}) = typeof(${sample}) and typeof(${back}) = typeof(${sample}) and ${back} is ${sample}`) === 1
    )
  })
}

function replaceSql(type: Type<unknown, unknown>, methods: SqlMethods): Type<unknown, unknown> {
  const texts = new Map<string, string>()
  const cached = (method: (typeof METHODS)[number]) => (key: string) => {
    const id = `${method} ${key}`
    let text = texts.get(id)
    if (text === undefined) texts.set(id, (text = methods[method](key)))
    return text
  }
  return Object.create(type, Object.fromEntries(METHODS.map(method => [method, { value: cached(method) }]))) as Type<unknown, unknown>
}
