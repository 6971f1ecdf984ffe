/** Compiles an attribute to SQL that compares and sorts by type: a datetime in milliseconds, though stored as a text. */
import type { ScalarAttribute } from '../../../model/model.ts'
import type { Operand } from '../../../records/plan/read-plan.ts'
import type { ColumnScope } from '../../sql/flavour.ts'
import { bind, literal, name, sql, type Sql, text } from '../../sql/sql.ts'
import { findForm } from './stored-time.ts'

export function compileStoredValue(attribute: ScalarAttribute, scope: ColumnScope): Sql {
  const { source, type } = attribute
  switch (source.kind) {
    case 'column': {
      const column = scope.column(source.column)
      // The default writes texts, MikroORM milliseconds.
      if (type.kind === 'datetime' && source.rawDefault) {
        return text(
          `(case typeof(${column}) when 'text' then ${momentOfText(column)} ` +
            `when 'real' then cast(${column} as integer) else ${column} end)`,
        )
      }
      const form = findForm(type)
      if (form?.uniform === false) return text(`mikro_time(${column}, ${literal(form.unit)})`)
      return text(type.collated === true ? `${column} collate binary` : column)
    }
    case 'document': {
      const value = inDocument(scope.column(source.column), source.keys)
      if (type.kind === 'decimal') return text(`cast(${value} as numeric)`)
      return text(type.kind === 'bigint' ? `cast(${value} as integer)` : value)
    }
    case 'formula': {
      const formula = source.sql(scope.alias, name)
      const inner = { text: `(${formula.sql})`, bindings: formula.values.map(value => ({ from: 'literal', value }) as const) }
      return type.kind === 'decimal' ? sql`cast(${inner} as numeric)` : inner
    }
    case 'tag':
      return sql`case when ${scope.column(source.column)} is not null then ${bind({ from: 'literal', value: source.value })} end`
    case 'within': {
      const { value, type: found } = within(source.json, source.names, scope)
      return sql`case when ${found} in ('object', 'array') then null else ${value} end`
    }
    case 'getter':
    case 'none':
      /* node:coverage ignore next */
      throw new Error(`"${attribute.name}" is not stored.`)
  }
}

/** SQLite's function is quicker, but rounds finer times (over 24 characters), and lacks some forms. */
function momentOfText(column: string): string {
  const quick = `cast(round(unixepoch(${column}, 'subsec') * 1000) as integer)`
  const own = `mikro_moment(${column}, 'text')`
  return `case when length(${column}) > 24 then ${own} else ifnull(${quick}, ${own}) end`
}

/** The type is NULL without a value. */
export function within(json: ScalarAttribute, names: readonly string[], scope: ColumnScope): { value: Sql; type: Sql } {
  const { source } = json
  const keys = source.kind === 'document' ? source.keys : []
  const whole = source.kind === 'document' ? text(scope.column(source.column)) : compileStoredValue(json, scope)
  if (names.length === 0 && keys.length === 0) {
    // Texts other than JSON are shown unchanged.
    return {
      value: sql`case when json_valid(${whole}) then json_extract(${whole}, '$') else ${whole} end`,
      type: sql`case when json_valid(${whole}) then json_type(${whole}) when ${whole} is not null then 'text' end`,
    }
  }
  const holder = sql`case when json_valid(${whole}) then ${whole} end`
  let plain = `$${keys.map(jsonKey).join('')}`
  let before: Sql | undefined
  const path = (): Sql => {
    const rest = bind({ from: 'literal', value: plain })
    return before === undefined ? rest : plain === '' ? before : sql`${before} || ${rest}`
  }
  for (const name of names) {
    if (!/^(?:0|[1-9]\d*)$/.test(name)) {
      plain += jsonKey(name)
      continue
    }
    // A number is a place in a list, or a key. Without `with`, each number would double the path.
    const place = bind({ from: 'literal', value: `[${name}]` })
    const key = bind({ from: 'literal', value: jsonKey(name) })
    const step = (at: Sql | string): Sql => sql`${at} || case json_type(${holder}, ${at}) when 'array' then ${place} else ${key} end`
    before = before === undefined ? step(path()) : sql`(with w(p) as materialized (select ${path()}) select ${step('p')} from w)`
    plain = ''
  }
  return { value: sql`json_extract(${holder}, ${path()})`, type: sql`json_type(${holder}, ${path()})` }
}

export function compileOperand(operand: Operand, scope: ColumnScope): Sql {
  return compileStoredValue(operand.attribute, scope.through(operand.hops))
}

export function findOperandColumn({ hops, attribute: { source, name } }: Operand, scope: ColumnScope): string {
  if (source.kind !== 'column') throw new Error(`"${name}" is not a column.`)
  return scope.through(hops).column(source.column)
}

function jsonKey(key: string): string {
  return `.${JSON.stringify(key)}`
}

export function inDocument(column: string, keys: readonly string[]): string {
  return `json_extract(${column}, ${literal(`$${keys.map(jsonKey).join('')}`)})`
}
