/** Turns a formula of MikroORM into SQL over a table alias: `t0.price * t0.amount`. */
import { isRaw, type EntityMetadata, type EntityProperty } from '@mikro-orm/core'
import type { Formula } from '../model.ts'

/** In `raw` of MikroORM, `??` is an identifier, `?` a bound value. */
export function compileFormula(meta: EntityMetadata, prop: EntityProperty): Formula {
  const formula = prop.formula as (columns: object, table: object) => unknown
  return (alias, quote) => {
    const table = { alias, name: meta.tableName, schema: meta.schema, qualifiedName: meta.tableName, toString: () => alias }
    const result: unknown = formula(meta.createColumnMappingObject(alias), table)
    if (!isRaw(result)) return { sql: String(result), values: [] }
    const params = [...result.params]
    const values: unknown[] = []
    const sql = result.sql.replaceAll(/\?\??/g, mark => {
      const value = params.shift()
      if (mark === '?') {
        values.push(value)
        return '?'
      }
      return String(value).split('.').map(quote).join('.')
    })
    return { sql, values }
  }
}
