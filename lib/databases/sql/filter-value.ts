/** Compares columns with values and keys as parameters: `author_id = ?`, `author_id in (?, ?)`; a long list is a single parameter. */
import { idParts } from '../../model/key.ts'
import { thresholds } from '../../foundation/base/thresholds.ts'
import type { ValueForm } from '../../records/database/binding.ts'
import type { KeyPart, ScalarAttribute } from '../../model/model.ts'
import type { ScalarType } from '../../foundation/values/scalar-type.ts'
import type { KeyRef, ValueRef } from '../../records/plan/read-plan.ts'
import type { Flavour } from './flavour.ts'
import { bind, join, joinEvenly, name, sql, tableName, text, tuple, type Sql } from './sql.ts'

export function filterValue(ref: ValueRef, attribute: ScalarAttribute, form: ValueForm = 'value'): Sql {
  const value = bind({ ...ref, form, inDocument: attribute.source.kind === 'document' })
  const { compareSql } = attribute.type.codec ?? {}
  return compareSql === undefined ? value : { ...value, text: compareSql(value.text) }
}

export function areOfOneFilter(refs: readonly { readonly from: ValueRef['from'] }[]): boolean {
  return refs.every(({ from }) => from === 'filter')
}

export function compileIsOneOf(value: Sql, parameters: readonly Sql[]): Sql {
  return parameters.length === 1 ? sql`${value} = ${parameters[0]!}` : sql`${value} in (${join(parameters, ', ')})`
}

/** A subquery finds the primary keys where clients know another ID. */
export function keyIn(columns: readonly string[], keys: readonly KeyRef[], tables: AliasSource): Sql {
  const [{ from, resource }] = keys as [KeyRef]
  const { flavour } = tables
  const { shownKey } = resource
  if (from !== 'filter' || shownKey === undefined) return idIn(columns, keys, flavour)
  const alias = tables.next()
  const columnOf = (part: KeyPart): string => `${alias}.${name(part.column)}`
  const isShown = idIn([columnOf(shownKey.part)], keys, flavour)
  const primaryKeys = sql`select ${resource.key.map(columnOf).join(', ')} from ${tableName(resource.table)} as ${alias} where ${isShown}`
  // With `=`, an index on the link gives rows in order.
  return keys.length === 1 ? sql`${tuple(columns)} = (${primaryKeys})` : sql`${tuple(columns)} in (${primaryKeys})`
}

interface AliasSource {
  readonly flavour: Flavour
  readonly next: () => string
}

function idIn(columns: readonly string[], keys: readonly KeyRef[], flavour: Flavour): Sql {
  const typeOf = (key: KeyRef, index: number): ScalarType => (key.from === 'filter' ? idParts(key.resource) : key.resource.key)[index]!.type
  const part = (key: KeyRef, index: number): Sql[] => {
    const value = (form: ValueForm): Sql =>
      bind(
        key.from === 'filter'
          ? { ...key, from: 'filterKey', part: index, form }
          : key.from === 'model'
            ? { from: 'model', value: key.key[index], type: typeOf(key, index), form, inDocument: false }
            : { from: 'scopeKey', of: key.of, index: key.index, part: index, type: typeOf(key, index), form },
      )
    return flavour.keyForms(typeOf(key, index)).map(value)
  }
  const compared = (column: string, index: number): Sql => text(flavour.compared(column, typeOf(keys[0]!, index)))
  if (columns.length === 1) {
    const [first] = keys as [KeyRef]
    const type = typeOf(first, 0)
    if (keys.length > thresholds.listedValues && first.from === 'filter' && areOfOneFilter(keys) && type.codec === undefined) {
      const { filter, oneOf, resource } = first
      const forms = flavour.keyForms(type)
      return flavour.isInKeys(columns[0]!, { from: 'filterKeys', filter, resource, forms, ...(oneOf === undefined ? {} : { oneOf }) })
    }
    return compileIsOneOf(
      compared(columns[0]!, 0),
      keys.flatMap(key => part(key, 0)),
    )
  }
  const whole = keys.map(
    key =>
      sql`(${join(
        columns.map((column, index) => compileIsOneOf(compared(column, index), part(key, index))),
        ' and ',
      )})`,
  )
  return sql`(${joinEvenly(whole, ' or ')})`
}
