/**
 * Writes the builder of `p` for a plain property (`p.string().length(50)`), or `fileType` where no builder reads and writes the column in
 * the same form.
 */
import {
  ArrayType,
  BigIntType,
  BlobType,
  DateType,
  DecimalType,
  DoubleType,
  EnumArrayType,
  JsonType,
  TimeType,
  Uint8ArrayType,
  UuidType,
} from '@mikro-orm/core'
import type { EntityProperty } from '@mikro-orm/core'
import { FileType } from '../../databases/sqlite/introspect/file-type.ts'
import { findForm } from '../../databases/sqlite/sql/stored-time.ts'
import { Code, literal, type LinkedSource } from './source.ts'

/** @returns undefined for a type already in code */
export function scalarBuilder(prop: EntityProperty, isQuery: boolean): readonly LinkedSource[] | undefined {
  const type = prop.customType
  if (type instanceof FileType) return fileBuilder(type, isQuery)
  if (type instanceof ArrayType && !(type instanceof EnumArrayType)) return [arrayBuilder(type)]
  if (type instanceof EnumArrayType) return [['enum', [...(prop.items ?? [])]], ['array']]
  if (prop.items !== undefined && type === undefined) return [['enum', [...prop.items]]]
  if (type instanceof BigIntType) return [type.mode === undefined || type.mode === 'bigint' ? ['bigint'] : ['bigint', type.mode]]
  if (type instanceof DecimalType) return [type.mode === 'number' ? ['decimal', 'number'] : ['decimal'], ...digits(prop)]
  if (type instanceof DoubleType) return [['double']]
  if (type instanceof JsonType) return [['json']]
  if (type instanceof UuidType) return [['uuid']]
  if (type instanceof DateType) return [['date']]
  if (type instanceof TimeType) return [['time', ...positive(prop.length)]]
  if (type instanceof BlobType) return [['blob']]
  if (type instanceof Uint8ArrayType) return [['uint8array']]
  if (type !== undefined) return undefined
  switch (prop.runtimeType) {
    case 'Date':
      return [['datetime', ...positive(prop.length)]]
    case 'boolean':
      return [['boolean']]
    case 'number':
      return [[NUMBERS.has(prop.type) ? prop.type : 'integer']]
    case 'string':
      if (prop.type === 'time') return [['time', ...positive(prop.length)]]
      return [[prop.type === 'text' ? 'text' : 'string'], ...linkLength(prop)]
    default:
      return undefined
  }
}

/**
 * Functions that read the elements of PostgreSQL's lists, which arrive as texts, or as lists in a list. A type that turns `given` into
 * `meant` needs the function.
 */
const READERS: readonly { readonly given: string; readonly meant: unknown; readonly name: string; readonly code: string }[] = [
  { given: '1', meant: 1, name: 'readNumber', code: 'item === null || !Number.isFinite(Number(item)) ? null : Number(item)' },
  { given: 't', meant: true, name: 'readBoolean', code: "item === null ? null : item === true || item === 't'" },
]

function arrayBuilder(type: ArrayType<unknown>): LinkedSource {
  const read = (item: string): unknown => (type.convertToJSValue([item], undefined as never) as unknown[])[0]
  const reader = READERS.find(({ given, meant }) => read(given) === meant)
  return reader === undefined ? ['array'] : ['array', new Code(reader.name)]
}

export function declareReaders(code: string): string[] {
  return READERS.filter(({ name }) => code.includes(`array(${name})`)).map(
    ({ name, code: body }) => `function ${name}(item: unknown): unknown {\n  return Array.isArray(item) ? item.map(${name}) : ${body}\n}\n`,
  )
}

/** A builder of `p` of the same form; else the type as read from the file. */
function fileBuilder({ scalar, isRowid }: FileType, isQuery: boolean): readonly LinkedSource[] {
  const { kind, items, collated } = scalar
  const time = findForm(scalar)
  const isUsual = collated !== true && kind !== 'any' && (kind !== 'datetime' || (time?.unit === 'milliseconds' && time.uniform))
  if (!isUsual || isRowid || isQuery) {
    return [['type', new Code(`fileType(${literal(plain(scalar))}${isRowid ? ', true' : ''})`)]]
  }
  if (items !== undefined) return [['enum', [...items]]]
  if (kind === 'float') return [['double']]
  if (kind === 'decimal') return [['decimal', 'number'], ...digits(scalar)]
  if (kind === 'text') return scalar.length === undefined ? [['text']] : [['string'], ...linkLength(scalar)]
  return [[kind]]
}

export class FileTypes {
  readonly #names = new Map<string, string>()

  name(kind: string, code: string): string {
    const existing = this.#names.get(code)
    if (existing !== undefined) return existing
    const same = [...this.#names.values()].filter(name => name.replace(/\d+$/, '') === `${kind}Column`).length
    const name = `${kind}Column${same === 0 ? '' : same + 1}`
    this.#names.set(code, name)
    return name
  }

  declarations(): string[] {
    return [...this.#names].map(([code, name]) => `const ${name} = ${code}\n`)
  }
}

/** Without unset members, and without members set by `fileType`. */
function plain(value: object): object {
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, item]) => item !== undefined && name !== 'loose' && typeof item !== 'function')
      .map(([key, item]) => [key, Array.isArray(item) ? [...(item as unknown[])] : item]),
  )
}

function digits({ precision, scale }: { readonly precision?: number; readonly scale?: number }): LinkedSource[] {
  return [
    ...(precision === undefined ? [] : [['precision', precision] as const]),
    ...(scale === undefined ? [] : [['scale', scale] as const]),
  ]
}

function linkLength({ length }: { readonly length?: number }): LinkedSource[] {
  return length === undefined || length === 0 ? [] : [['length', length]]
}

const NUMBERS = new Set(['tinyint', 'smallint', 'mediumint', 'float'])

function positive(length: number | undefined): number[] {
  return length === undefined || length === 0 ? [] : [length]
}
