/** Translates formulas written for another database. A failing formula becomes null, with a note. */
import { isRaw, type EntityMetadata, type EntityProperty, type MikroORM } from '@mikro-orm/core'
import type { RawDatabase } from '../driver/raw-database.ts'
import type { ForeignModel } from './model.ts'
import { isOfAnother, toSqlite } from './translate-sql.ts'
import { name } from '../../sql/sql.ts'

type FormulaFunction = (columns: object, table: object) => unknown

function inMain(formula: FormulaFunction): FormulaFunction {
  return (columns, table) => {
    const { alias } = table as { alias: string }
    return formula(columns, { ...table, schema: 'main', toString: () => alias })
  }
}

/** Runs once the schema is made. */
export function adaptFormulas(orm: MikroORM, db: RawDatabase, model: ForeignModel, addFunctions: () => void): void {
  for (const meta of orm.getMetadata()) {
    for (const prop of meta.props) {
      const written = prop.formula as FormulaFunction | undefined
      if (typeof written !== 'function' || meta.tableName === undefined || prop.through !== undefined) continue
      const given = model.schemas.size === 0 ? written : inMain(written)
      const run = (formula: FormulaFunction): string | undefined => findProblem(formula, meta, db)
      const isFine = (problem: string | undefined): boolean => !isOfAnother(problem)
      if (isFine(run(given))) {
        if (given !== written) prop.formula = given as NonNullable<EntityProperty['formula']>
        continue
      }
      model.found()
      addFunctions()
      const translated = (columns: object, table: object): unknown => {
        const made: unknown = given(columns, table)
        return isRaw(made)
          ? Object.assign(Object.create(Object.getPrototypeOf(made) as object), made, { sql: toSqlite(made.sql, model.schemas) })
          : toSqlite(String(made), model.schemas)
      }
      const still = run(translated)
      const isCured = isFine(still)
      prop.formula = (isCured ? translated : () => 'null') as NonNullable<EntityProperty['formula']>
      const place = `${meta.className}.${prop.name}`
      if (isCured) model.mapped("its formula is in SQLite's words here", place)
      else model.found(`${place}: SQLite cannot run its formula (${still}): it is null.`)
    }
  }
}

function findProblem(formula: FormulaFunction, meta: EntityMetadata, db: RawDatabase): string | undefined {
  const alias = 'f0'
  const table = { alias, name: meta.tableName, schema: undefined, qualifiedName: meta.tableName, toString: () => alias }
  let made: unknown
  try {
    made = formula(meta.createColumnMappingObject(alias), table)
  } catch {
    // MikroORM's own call gives a formula more than is known here.
    return undefined
  }
  const sql = isRaw(made) ? made.sql.replaceAll('??', '"c"').replaceAll('?', 'null') : String(made)
  try {
    db.prepare(`select (${sql}) from ${name(meta.tableName)} as ${alias} limit 0`)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}
