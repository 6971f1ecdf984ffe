/** Describes records in answers, with relations as IDs or as objects, and plain values in answers, in bodies and as IDs. */
import type { ScalarType } from '../../foundation/values/scalar-type.ts'
import { isIds } from '../../model/ids-name.ts'
import { idParts } from '../../model/key.ts'
import {
  type Attribute,
  type EmbeddedAttribute,
  type Resource,
  type ToOneAttribute,
  type ToOneOfAttribute,
  isRelation,
  listTargets,
} from '../../model/model.ts'
import { branchesFor, existsFor } from '../../records/plan/visibility.ts'
import { pascalCase } from './components.ts'
import { Describer, type DocumentParts } from './describer.ts'
import { ANY, anyOf, describeObject, orNull, type Schema } from './schema.ts'

export function idSchema(resource: Resource): Schema {
  const parts = idParts(resource)
  return parts.length === 1 ? keySchema(parts[0]!.type) : compositeKeySchema(parts)
}

export class RecordSchemas extends Describer {
  readonly #showsRelations: boolean

  constructor(parts: DocumentParts) {
    super(parts)
    this.#showsRelations = parts.source.model.resources.every(({ rules }) => rules.depth > 0 || rules.expand.length === 0)
  }

  refer(resource: Resource): Schema {
    return this.components.refer('schemas', pascalCase(resource.singular), `record ${resource.plural}`, () => ({
      ...this.#object(resource, undefined),
      ...this.#examples(resource),
    }))
  }

  attribute(attribute: Attribute): Schema {
    if (attribute.render !== undefined) return { description: 'What the application shows of it.' }
    if (isIds(attribute)) {
      const id = idSchema(attribute.target)
      return attribute.kind === 'toMany' ? { type: 'array', items: id } : orNullIf(mayBeEmpty(attribute), id)
    }
    switch (attribute.kind) {
      case 'scalar': {
        const schema = attribute.source.kind === 'getter' ? ANY : this.#plain(attribute.type)
        // A formula may compute NULL whatever the model says.
        const mayBeNull = attribute.nullable || attribute.type.loose === true || attribute.source.kind === 'formula'
        return mayBeNull ? orNull(schema) : schema
      }
      case 'embedded':
        return this.#embedded(attribute)
      case 'toOne':
        return orNullIf(mayBeEmpty(attribute) || this.options.sparse, anyOf([idSchema(attribute.target), this.refer(attribute.target)]))
      case 'toMany': {
        const list = { type: 'array', items: anyOf([idSchema(attribute.target), this.refer(attribute.target)]) } as const
        return this.options.sparse ? anyOf([list, { type: 'integer' }]) : list
      }
      case 'toOneOf':
        return this.#polymorphic(attribute)
    }
  }

  #plain(type: ScalarType): Schema {
    const { pattern, ...schema } = answerSchema(type)
    return pattern === undefined || this.options.brief ? schema : { ...schema, pattern }
  }

  #examples(resource: Resource): Schema {
    const example = this.source.examples.get(resource)
    return example === undefined ? {} : { examples: [example] }
  }

  /** @param typeName the discriminator, in a relation to several resources */
  #object(resource: Resource, typeName: string | undefined): Schema {
    const shown = withIds(resource).filter(attribute => existsFor(attribute, this.visibility))
    const own = Object.fromEntries(shown.map(attribute => [attribute.name, this.attribute(attribute)]))
    const discriminator = typeName === undefined ? {} : { [typeName]: { const: resource.singular } }
    const required = [
      ...(typeName === undefined || this.options.sparse ? [] : [typeName]),
      ...shown.filter(attribute => this.#isAlwaysShown(attribute, resource)).map(({ name }) => name),
    ]
    // Wrappers may add members.
    const isOpen = this.options.brief || Object.keys(resource.rules.wrappers).length > 0
    return describeObject({ properties: { ...discriminator, ...own }, required, isOpen })
  }

  /** Whether answers always show the attribute, unless the request excludes attributes. */
  #isAlwaysShown(attribute: Attribute, resource: Resource | undefined): boolean {
    if (this.options.sparse || attribute.flag !== undefined || attribute.render !== undefined || attribute.classValues !== undefined)
      return false
    if (!isRelation(attribute) && attribute.kind !== 'toOneOf') return true
    if (isIds(attribute)) return attribute.target.rules.access[attribute.kind === 'toMany' ? 'list' : 'get'] === true
    if (isRelation(attribute) && attribute.ids !== undefined) return false
    if (!this.#showsRelations || resource === undefined || resource.rules.depth === 0) return false
    const action = attribute.kind === 'toMany' ? 'list' : 'get'
    return listTargets(attribute).every(({ rules }) => rules.access[action] === true)
  }

  #embedded(attribute: EmbeddedAttribute): Schema {
    const shown = attribute.attributes.filter(child => existsFor(child, this.visibility))
    const common = (child: Attribute): boolean =>
      attribute.variants === undefined ||
      [...attribute.variants.byValue.values()].every(each => each.some(({ name }) => name === child.name))
    const object = describeObject({
      properties: Object.fromEntries(shown.map(child => [child.name, this.attribute(child)])),
      required: shown
        .filter(child => this.#isAlwaysShown(child, undefined) && common(child) && !isInDocument(attribute))
        .map(({ name }) => name),
      isOpen: this.options.brief,
    })
    return orNullIf(attribute.nullable, attribute.array ? { type: 'array', items: object } : object)
  }

  #polymorphic(attribute: ToOneOfAttribute): Schema {
    const { typeName } = attribute
    const links = branchesFor(attribute, this.visibility).flatMap(({ target }) => [
      describeObject({ properties: { [typeName]: { const: target.singular }, id: idSchema(target) }, required: [typeName, 'id'] }),
      this.components.refer('schemas', `${pascalCase(target.singular)}Link`, `typed ${target.plural} ${typeName}`, () =>
        this.#object(target, typeName),
      ),
    ])
    // No foreign key protects such a link.
    return orNull(anyOf(links))
  }
}

/** Puts `authorId` before `author`, if a relation has a name for its IDs. */
export function withIds({ attributes, byName }: Resource): readonly Attribute[] {
  return attributes.flatMap(attribute =>
    isRelation(attribute) && attribute.ids !== undefined ? [byName.get(attribute.ids)!, attribute] : [attribute],
  )
}

/** Other programs may omit attributes in JSON. */
function isInDocument({ document, array }: EmbeddedAttribute): boolean {
  return document !== undefined || array
}

function orNullIf(condition: boolean, schema: Schema): Schema {
  return condition ? orNull(schema) : schema
}

/** A link may be missing (a nullable column, an inverse side, a formula), or the caller may not see the linked record. */
export function mayBeEmpty({ nullable, owner, target, formula }: ToOneAttribute): boolean {
  return nullable || !owner || formula !== undefined || target.rules.scopes.length > 0 || target.key.some(({ type }) => type.loose === true)
}

const INTEGER_TEXT = '^(?:0|-?[1-9]\\d*)$'
const NUMBER_TEXT = '^-?\\d+(?:\\.\\d+)?(?:[eE][+-]?\\d+)?$'
const TIME_TEXT = '^(?:[01]\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d(?:\\.\\d{1,6})?)?$'
const BASE64_TEXT = '^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$'

function answerSchema(type: ScalarType): Schema {
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

function keySchema(type: ScalarType): Schema {
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
