/** Reads the resource option `computed`, attributes with SQL of the application, alone or in groups behind a flag parameter. */
import { checkNames, findNearest, formatHint } from '../foundation/base/suggest.ts'
import type { ScalarKind, ScalarType } from '../foundation/values/scalar-type.ts'
import type { Attribute, EmbeddedAttribute, ScalarAttribute, SqlText } from './model.ts'
import type { ComputedAttribute, ComputedGroup, SqlFragment, UntypedConfig } from './resource-config.ts'

const KINDS: Readonly<Record<ComputedAttribute['type'], ScalarKind>> = {
  integer: 'integer',
  bigint: 'bigint',
  float: 'float',
  decimal: 'decimal',
  string: 'text',
  boolean: 'boolean',
  datetime: 'datetime',
  date: 'date',
  time: 'time',
  uuid: 'uuid',
  json: 'json',
}

/** Names of databases, TypeScript and MikroORM, for hints. */
const OTHER_KINDS: Readonly<Record<string, ComputedAttribute['type']>> = {
  __proto__: null as never,
  int: 'integer',
  smallint: 'integer',
  number: 'float',
  double: 'float',
  real: 'float',
  numeric: 'decimal',
  money: 'decimal',
  text: 'string',
  varchar: 'string',
  character: 'string',
  enum: 'string',
  bool: 'boolean',
  timestamp: 'datetime',
  timestamptz: 'datetime',
  guid: 'uuid',
  jsonb: 'json',
  object: 'json',
  array: 'json',
}

/** @param where begins error texts */
export function readComputed(where: string, taken: readonly Attribute[], config: UntypedConfig): Attribute[] {
  return Object.entries(config.computed ?? {}).map(([name, computed]) => {
    if (taken.some(attribute => attribute.name === name)) throw new TypeError(`${where}: computed: "${name}" is an attribute already.`)
    return readComputedAttribute(`${where}: computed.${name}`, name, computed, undefined)
  })
}

function isGroup(computed: ComputedAttribute | ComputedGroup): computed is ComputedGroup {
  return typeof computed.sql !== 'function'
}

function readComputedAttribute(
  where: string,
  name: string,
  computed: ComputedAttribute | ComputedGroup,
  outer: string | undefined,
): ScalarAttribute | EmbeddedAttribute {
  if (typeof computed !== 'object' || computed === null || Array.isArray(computed)) throw mustBe(where)
  const flag = isGroup(computed) ? (computed.flag ?? outer) : outer
  if (flag !== undefined && (typeof flag !== 'string' || !/^\w[\w.-]*$/.test(flag)))
    throw new TypeError(`${where}: "flag" must be the name of a parameter.`)
  const common = {
    name,
    property: name,
    nullable: !isGroup(computed),
    hidden: false,
    readOnly: true,
    required: false,
    needed: false,
    filterable: true,
    sortable: true,
    flag,
    render: undefined,
  }
  return isGroup(computed) ? readComputedGroup(where, computed, common) : readComputedScalar(where, computed, common)
}

function mustBe(where: string, why = ''): TypeError {
  return new TypeError(`${where} must be { type, sql } or a group of such${why}.`)
}

type ComputedCommon = Omit<ScalarAttribute, 'kind' | 'type' | 'source' | 'primary' | 'version' | 'links'>

function readComputedGroup(where: string, group: ComputedGroup, common: ComputedCommon): EmbeddedAttribute {
  if (typeof group['type'] === 'string' || typeof group['sql'] === 'string')
    throw mustBe(where, ': "sql" must be a function that returns SQL')
  const attributes = Object.entries(group)
    .filter(([key]) => key !== 'flag')
    .map(([key, inner]) => readComputedAttribute(`${where}.${key}`, key, inner as ComputedAttribute | ComputedGroup, common.flag))
  if (attributes.length === 0) throw mustBe(where)
  return Object.freeze({
    kind: 'embedded',
    entity: undefined,
    ...common,
    document: undefined,
    array: false,
    variants: undefined,
    attributes: Object.freeze(attributes),
    byName: new Map(attributes.map(attribute => [attribute.name, attribute])),
  } as const)
}

function readComputedScalar(where: string, computed: ComputedAttribute, common: ComputedCommon): ScalarAttribute {
  checkNames(computed, ['type', 'sql', 'scale'], where)
  const kind = Object.hasOwn(KINDS, computed.type) ? KINDS[computed.type] : undefined
  if (kind === undefined) {
    const known = Object.keys(KINDS)
    const given: unknown = computed.type
    const meant = OTHER_KINDS[String(given).toLowerCase()] ?? findNearest(String(given), known)
    throw new TypeError(
      `${where}: unknown type "${String(given)}".${meant === undefined ? ` Known are ${known.join(', ')}.` : formatHint(meant)}`,
    )
  }
  const { scale } = computed
  if (scale !== undefined && (kind !== 'decimal' || !Number.isInteger(scale) || scale < 0 || scale > 30))
    throw new TypeError(`${where}: "scale" must be the number of digits after the point of a decimal.`)
  const type: ScalarType = Object.freeze({ kind, ...(scale === undefined ? {} : { scale, precision: 38 }) })
  const { sql } = computed
  const source = {
    kind: 'formula' as const,
    asksCaller: () => asksCaller(sql),
    sql: (alias: string): SqlText => {
      const text = sql(alias)
      return typeof text === 'string' ? { sql: text, values: [] } : { sql: text.sql, values: text.params }
    },
  }
  return Object.freeze({ kind: 'scalar', ...common, type, source, primary: false, version: false } as const)
}

function asksCaller(sql: ComputedAttribute['sql']): boolean {
  let text: string | SqlFragment
  try {
    text = sql('t0')
  } catch {
    return false
  }
  return (
    typeof text !== 'string' && Array.isArray(text.params) && text.params.some(value => typeof value === 'function' && value.length > 0)
  )
}
