/** Describes plain values in answers, in bodies and as IDs. */
import type { ScalarType } from '../../foundation/values/scalar-type.ts'
import { ANY, anyOf, type Schema } from './schema.ts'

const INTEGER_TEXT = '^(?:0|-?[1-9]\\d*)$'
const NUMBER_TEXT = '^-?\\d+(?:\\.\\d+)?(?:[eE][+-]?\\d+)?$'
const TIME_TEXT = '^(?:[01]\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d(?:\\.\\d{1,6})?)?$'
const BASE64_TEXT = '^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$'

export function answerSchema(type: ScalarType): Schema {
  const plain = plainAnswer(type)
  if (type.loose !== true) return plain
  // A column of a SQLite file may hold other types than declared.
  return { ...looseForm(plain), description: 'A value of the file that is not of this type is shown as it is.' }
}

function plainAnswer(type: ScalarType): Schema {
  const { kind, items } = type
  if (items !== undefined && kind !== 'array') return { type: typeOfItems(items), enum: [...items] }
  switch (kind) {
    case 'integer':
      return { type: 'integer' }
    case 'bigint':
      return type.asNumber === true ? { type: 'integer' } : { type: 'string', pattern: INTEGER_TEXT }
    case 'float':
      return { type: 'number' }
    case 'decimal':
      return type.asNumber === true ? { type: 'number' } : { type: 'string', pattern: NUMBER_TEXT }
    case 'text':
      return { type: 'string' }
    case 'boolean':
      return { type: 'boolean' }
    case 'datetime':
      return { type: 'string', format: 'date-time' }
    case 'date':
      return { type: 'string', format: 'date' }
    case 'time':
      return { type: 'string', pattern: TIME_TEXT }
    case 'uuid':
      return { type: 'string', format: 'uuid' }
    case 'blob':
      return { type: 'string', contentEncoding: 'base64' }
    case 'array':
      return { type: 'array', items: itemSchema(type) }
    case 'any':
      return { type: ['string', 'number'] }
    case 'custom':
      return type.json === undefined ? ANY : { type: type.json }
    case 'json':
    case 'jsonValue':
      return ANY
  }
}

/** A pattern describes texts for which JSON Schema has no `format`. */
export function bodySchema(type: ScalarType): Schema {
  const { kind, items } = type
  if (items !== undefined && kind !== 'array') return { type: typeOfItems(items), enum: [...items] }
  switch (kind) {
    case 'integer':
      return type.loose === true ? anyOf([{ type: 'integer' }, bigintText()]) : { type: 'integer' }
    case 'bigint':
      return anyOf([bigintText(), { type: 'integer' }])
    case 'decimal':
      return anyOf([{ type: 'string', pattern: decimalPattern(type) }, { type: 'number' }])
    case 'text':
      return { type: 'string', ...(type.length === undefined ? {} : { maxLength: type.length }) }
    case 'time':
      return { type: 'string', pattern: TIME_TEXT }
    case 'blob':
      return { type: 'string', contentEncoding: 'base64', pattern: BASE64_TEXT }
    default:
      return plainAnswer(type)
  }
}

export function keySchema(type: ScalarType): Schema {
  return type.kind === 'custom' ? ANY : looseForm(plainAnswer(type), type.loose === true)
}

/** A composite key is a text such as `1~2`. */
export function compositeKeySchema(parts: readonly { readonly type: ScalarType }[]): Schema {
  const isCounted = ({ kind, loose }: ScalarType): boolean => (kind === 'integer' || kind === 'bigint') && loose !== true
  const patterns = parts.map(({ type }) => (isCounted(type) ? '(?:0|-?[1-9]\\d*)' : '[^~/]*'))
  return { type: 'string', pattern: `^${patterns.join('~')}$`, description: 'The parts of the key.' }
}

function bigintText(): Schema {
  return { type: 'string', pattern: INTEGER_TEXT, maxLength: 20 }
}

function typeOfItems(items: readonly (string | number)[]): string | string[] {
  const types = [...new Set(items.map(item => (typeof item === 'number' ? 'number' : 'string')))]
  return types.length === 1 ? types[0]! : types
}

function itemSchema({ items }: ScalarType): Schema {
  return items === undefined ? { type: ['string', 'number', 'boolean'] } : { type: typeOfItems(items), enum: [...items] }
}

/** Allows `precision - scale` digits before the point, and `scale` digits plus zeros after. */
function decimalPattern({ precision, scale }: ScalarType): string {
  const whole = precision === undefined ? '' : Math.max(1, precision - (scale ?? 0)) - 1
  const fraction = scale === undefined ? '\\d+' : scale === 0 ? '0+' : `\\d{1,${scale}}0*`
  return `^-?(?:0|[1-9]\\d${whole === '' ? '*' : `{0,${whole}}`})(?:\\.${fraction})?$`
}

/** Values of another type in a file are texts, numbers or booleans. */
function looseForm(schema: Schema, isLoose = true): Schema {
  return isLoose && schema['type'] !== undefined ? { type: ['string', 'number', 'boolean'] } : schema
}
