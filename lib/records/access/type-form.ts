/** Turns the texts of an HTML form into a JSON body: `age=5` becomes `{ "age": 5 }`. Unfit texts stay, for validation to refuse. */
import { restError } from '../../foundation/errors/errors.ts'
import { itemsOf, plainField, type FormBody, type FormField } from '../../foundation/http/form-body.ts'
import { parseScalar, type ScalarType } from '../../foundation/values/scalar-type.ts'
import { isIds } from '../../model/ids-name.ts'
import { idParts } from '../../model/key.ts'
import type { Attribute, Resource } from '../../model/model.ts'
import type { Target } from './resolve-path.ts'

type ByName = ReadonlyMap<string, Attribute>

export function typeForm(form: FormBody, method: string, target: Target): unknown {
  if (target.kind === 'collection' || target.kind === 'record') return typeRecord(form.fields, target.resource.byName)
  if (target.kind !== 'attribute') return form.plain()
  const { attribute } = target
  if (attribute.kind === 'embedded' && !attribute.array) return typeRecord(form.fields, attribute.byName)
  if (attribute.kind === 'toOne' || (attribute.kind === 'toMany' && method === 'POST'))
    return typeRecord(form.fields, attribute.target.byName)
  if (attribute.kind === 'toOneOf') return form.plain()
  throw restError(
    'body_invalid',
    `A form has names, and the body here is the value of "${attribute.name}": send JSON, or the form to the record.`,
  )
}

function typeRecord(fields: ReadonlyMap<string, FormField>, byName: ByName): Readonly<Record<string, unknown>> {
  return Object.fromEntries([...fields].map(([name, field]) => [name, typeField(field, byName.get(name))]))
}

function typeField(field: FormField, attribute: Attribute | undefined): unknown {
  switch (attribute?.kind) {
    case undefined:
    case 'toOneOf':
      return plainField(field)
    case 'scalar':
      return typeScalar(field, attribute.type, attribute.nullable)
    case 'embedded':
      return attribute.array
        ? (listOf(field)?.map(item => typeObject(item, attribute.byName)) ?? plainField(field))
        : typeObject(field, attribute.byName)
    case 'toOne':
      return typeLink(field, attribute.target, attribute.nullable, isIds(attribute))
    case 'toMany':
      return (listOf(field) ?? []).map(item => typeLink(item, attribute.target, false, isIds(attribute)))
  }
}

/** Numbered members, else values. One empty value: an empty list. */
function listOf(field: FormField): FormField[] | undefined {
  const { texts, members } = field
  if (members.size > 0) return itemsOf(field) ?? [field]
  if (texts.length === 1 && texts[0] === '') return []
  return texts.map(text => ({ texts: [text], isList: false, members: new Map() }))
}

function typeObject(field: FormField, byName: ByName): unknown {
  if (field.members.size > 0) return typeRecord(field.members, byName)
  return field.texts.length === 1 && field.texts[0] === '' ? null : plainField(field)
}

function typeLink(field: FormField, target: Resource, nullable: boolean, isId: boolean): unknown {
  if (field.members.size > 0 && !isId) return typeRecord(field.members, target.byName)
  const [part, ...others] = idParts(target)
  if (others.length > 0) return nullable && field.texts[0] === '' ? null : plainField(field)
  return typeScalar(field, part!.type, nullable)
}

function typeScalar(field: FormField, type: ScalarType, nullable: boolean): unknown {
  if (type.kind === 'array') return (listOf(field) ?? []).map(item => typeText(item.texts[0] ?? '', { ...type, kind: 'any' }, false))
  if (field.isList || field.texts.length !== 1) return plainField(field)
  return typeText(field.texts[0]!, type, nullable)
}

/** Kinds other than texts in JSON. */
const TYPED = new Set(['integer', 'float', 'boolean'])

function typeText(text: string, type: ScalarType, nullable: boolean): unknown {
  const { kind, items, asNumber } = type
  if (items !== undefined && text !== '') return items.find(item => String(item) === text) ?? text
  // An empty input means NULL, except for a text.
  if (nullable && kind !== 'text' && (text === '' || text === 'null')) return null
  if (kind === 'boolean' && text === 'on') return true
  if (TYPED.has(kind) || asNumber === true) {
    const value = parseScalar(text, type)
    return typeof value === 'bigint' ? Number(value) : typeof value === 'string' && asNumber === true ? Number(value) : (value ?? text)
  }
  return text
}
