/** Describes the bodies of POST, PUT and PATCH: writable attributes, with relations as IDs or as objects for new records. */
import { idParts } from '../../model/key.ts'
import { isIds } from '../../model/ids-name.ts'
import { isRelation } from '../../model/model.ts'
import type {
  Attribute,
  EmbeddedAttribute,
  InnerAttribute,
  RelationAttribute,
  Resource,
  ToOneOfAttribute,
  ToManyAttribute,
} from '../../model/model.ts'
import { branchesFor, hasVisibleTarget } from '../../records/plan/visibility.ts'
import { filledSide, owningName } from '../../records/validate/relation-sides.ts'
import { pascalCase } from './components.ts'
import { exampleBody } from './examples.ts'
import { withIds, bodySchema, compositeKeySchema } from './record-schemas.ts'
import { anyOf, exceptNull, describeObject, orNull, type Schema } from './schema.ts'
import { isCreatable } from '../../records/access/resolve-path.ts'
import { Describer } from './describer.ts'

type Mode = 'new' | 'change'

export class BodySchemas extends Describer {
  /** @param given set by the path (`author` for `POST /users/1/posts`): the body may omit `author` */
  creation(resource: Resource, given?: string): Schema {
    const items = this.referNew(resource, given)
    const schema = this.wrapped(items, resource)
    if (!this.options.bulk) return schema
    return anyOf([schema, { type: 'array', items, minItems: 1, maxItems: this.source.limits.maxBulk }])
  }

  change(resource: Resource): Schema {
    return this.wrapped(this.referChange(resource), resource)
  }

  /** As answers, by the option `envelope`. */
  wrapped(schema: Schema, resource: Resource): Schema {
    const path = this.source.envelope?.record?.pathOf('record', resource) ?? []
    return path.reduceRight<Schema>(
      (inside, key) => describeObject({ properties: { [key]: inside }, required: [key], isOpen: false }),
      schema,
    )
  }

  referNew(resource: Resource, given?: string): Schema {
    const isGiven = given !== undefined && resource.byName.get(given)?.required === true
    const name = `${pascalCase(resource.singular)}New${isGiven ? `Without${pascalCase(given)}` : ''}`
    const owner = `new ${resource.plural} ${isGiven ? given : ''}`
    return this.components.refer('schemas', name, owner, () => {
      const example = isGiven ? undefined : exampleBody(resource, this.source)
      return this.#extended(resource, given, example === undefined ? {} : { examples: [example] })
    })
  }

  referChange(resource: Resource): Schema {
    return this.components.refer('schemas', `${pascalCase(resource.singular)}Patch`, `change ${resource.plural}`, () =>
      this.#object(resource, 'change', {}),
    )
  }

  /** @returns undefined if bodies may not have the attribute */
  attribute(attribute: Attribute, mode: Mode): Schema | undefined {
    if (attribute.readOnly || !hasVisibleTarget(attribute, this.visibility)) return undefined
    const schema = withSchema(this.#writable(attribute, mode), attribute)
    return attribute.hidden ? { ...schema, writeOnly: true } : schema
  }

  #writable(attribute: Attribute, mode: Mode): Schema {
    if (isIds(attribute)) {
      const id = idInBody(attribute.target)
      return attribute.kind === 'toMany' ? { type: 'array', items: id } : attribute.nullable ? orNull(id) : id
    }
    switch (attribute.kind) {
      case 'scalar': {
        const schema = bodySchema(attribute.type)
        return attribute.nullable || attribute.source.kind === 'none' ? orNull(schema) : exceptNull(schema)
      }
      case 'embedded':
        return this.#embedded(attribute, mode)
      case 'toOne': {
        const schema = anyOf(this.#links(attribute))
        return attribute.nullable ? orNull(schema) : schema
      }
      case 'toMany':
        return this.#list(attribute)
      case 'toOneOf':
        return this.#polymorphic(attribute)
    }
  }

  /** A list takes all members, or `{ connect, disconnect, create }`, which keeps the other members. */
  #list(attribute: ToManyAttribute): Schema {
    const members = { type: 'array', items: anyOf(this.#links(attribute)) }
    if (this.options.brief) return members
    const ids = { type: 'array', items: { type: ['string', 'number'] } }
    const change = this.components.refer('schemas', 'ListChange', 'change of a list', () => ({
      type: 'object',
      properties: { connect: ids, disconnect: ids, create: { type: 'boolean' } },
      additionalProperties: false,
    }))
    return anyOf([members, change])
  }

  /** PUT of a to-one relation: an ID links another record, an object changes the linked record. */
  linked(attribute: RelationAttribute): Schema {
    const { target, nullable } = attribute
    const schema = anyOf([idInBody(target), ...(isWritable(target) ? [this.change(target)] : [])])
    return nullable ? orNull(schema) : schema
  }

  /** The schema of a change (`allOf`) with differing properties: a short document. */
  #extended(resource: Resource, given: string | undefined, annotations: Schema): Schema {
    const { type: _, properties, required, additionalProperties: __, allOf = [], ...others } = this.#object(resource, 'new', { given })
    const { properties: changed } = this.#object(resource, 'change', {}) as { readonly properties: Readonly<Record<string, unknown>> }
    // Some client generators need `required` and properties in one schema.
    const isDue = (name: string): boolean => (required as readonly string[] | undefined)?.includes(name) === true
    const different = Object.entries(properties as Schema).filter(
      ([name, schema]) => isDue(name) || JSON.stringify(changed[name]) !== JSON.stringify(schema),
    )
    const more = {
      ...others,
      ...annotations,
      ...(required === undefined ? {} : { required }),
      ...(different.length === 0 ? {} : { type: 'object', properties: Object.fromEntries(different) }),
    }
    const change = this.referChange(resource)
    const all = [change, ...(allOf as Schema[])]
    return all.length === 1 && Object.keys(more).length === 0 ? change : { allOf: all, ...more }
  }

  #object(
    resource: Resource,
    mode: Mode,
    { given, typeName }: { readonly given?: string | undefined; readonly typeName?: string },
  ): Schema {
    const members = withIds(resource).flatMap(attribute => {
      const schema = this.attribute(attribute, mode)
      return schema === undefined ? [] : [{ attribute, schema }]
    })
    const discriminator = typeName === undefined ? {} : { [typeName]: { const: resource.singular } }
    const isDue = ({ name, required, classValues }: Attribute): boolean =>
      mode === 'new' && !mayBeGiven(resource) && name !== given && (required || isClassNeeded(resource, name)) && classValues === undefined
    const due = members.map(({ attribute }) => attribute).filter(isDue)
    // A relation with a name for its IDs may be given as `authorId` or as `author`.
    const either = due.flatMap(({ name, ...rest }) => ('ids' in rest && rest.ids !== undefined ? [[rest.ids, name]] : []))
    const object = describeObject({
      properties: { ...discriminator, ...Object.fromEntries(members.map(({ attribute, schema }) => [attribute.name, schema])) },
      required: [
        ...Object.keys(discriminator),
        ...due.filter(attribute => !isRelation(attribute) || (attribute.ids ?? attribute.idsOf) === undefined).map(({ name }) => name),
      ],
      isOpen: resource.open !== undefined && !(resource.open.once && resource.open.learned.length > 0),
    })
    return either.length === 0 ? object : { ...object, allOf: either.map(names => ({ anyOf: names.map(name => ({ required: [name] })) })) }
  }

  #embedded(attribute: EmbeddedAttribute, mode: Mode): Schema {
    const { variants, array, nullable } = attribute
    // An object in an array, or with several classes, is replaced as a whole.
    const inside: Mode = array || variants !== undefined ? 'new' : mode
    const one =
      variants === undefined
        ? this.#inner(attribute.attributes, inside, {})
        : anyOf([...variants.byValue].map(([value, attributes]) => this.#variant(attributes, variants.discriminator, value)))
    const schema = array ? { type: 'array', items: one } : one
    return nullable ? orNull(schema) : schema
  }

  #variant(attributes: readonly InnerAttribute[], discriminator: string, value: string): Schema {
    const kind = attributes.find(({ name }) => name === discriminator)
    const isNumber = kind?.kind === 'scalar' && kind.type.kind === 'integer'
    return this.#inner(attributes, 'new', { [discriminator]: { const: isNumber ? Number(value) : value } })
  }

  #inner(attributes: readonly InnerAttribute[], mode: Mode, discriminator: Readonly<Record<string, Schema>>): Schema {
    const members = attributes.flatMap((child): [string, Schema][] => {
      const schema = this.attribute(child, mode)
      return schema === undefined ? [] : [[child.name, schema]]
    })
    const due = attributes.filter(({ required, readOnly }) => mode === 'new' && required && !readOnly).map(({ name }) => name)
    return describeObject({
      properties: { ...Object.fromEntries(members), ...discriminator },
      required: [...new Set([...Object.keys(discriminator), ...due])],
    })
  }

  #links(relation: RelationAttribute): Schema[] {
    const { target } = relation
    const id = idInBody(target)
    return isMakeable(target) ? [id, this.referNew(target, owningName(relation) ?? filledSide(relation))] : [id]
  }

  #polymorphic(attribute: ToOneOfAttribute): Schema {
    const { typeName, nullable } = attribute
    const links = branchesFor(attribute, this.visibility).flatMap(({ target }) => {
      const link = describeObject({
        properties: { [typeName]: { const: target.singular }, id: idInBody(target) },
        required: [typeName, 'id'],
      })
      const make = (): Schema => this.#object(target, 'new', { typeName })
      const name = `${pascalCase(target.singular)}NewLink`
      return isMakeable(target) ? [link, this.components.refer('schemas', name, `new typed ${target.plural} ${typeName}`, make)] : [link]
    })
    const schema = anyOf(links)
    return nullable ? orNull(schema) : schema
  }
}

function mayBeGiven({ rules: { wrappers } }: Resource): boolean {
  return wrappers.create !== undefined
}

function isClassNeeded({ hierarchy }: Resource, name: string): boolean {
  return hierarchy !== undefined && hierarchy.classValue === undefined && hierarchy.attribute === name
}

function isMakeable(resource: Resource): boolean {
  return resource.served && isCreatable(resource) && resource.rules.access.create !== false
}

function isWritable({ served, readOnly, rules }: Resource): boolean {
  return served && !readOnly && rules.access.update !== false
}

export function idInBody(resource: Resource): Schema {
  const parts = idParts(resource)
  if (parts.length > 1) return compositeKeySchema(parts)
  // A text longer than the key is the ID of no record (404).
  const { length: _, ...type } = parts[0]!.type
  return exceptNull(bodySchema(type))
}

/** Adds the attribute's own JSON Schema, if the library can express one. */
function withSchema(own: Schema, { schema, nullable }: Attribute): Schema {
  if (schema === undefined || !('~standard' in schema)) return own
  const { vendor, jsonSchema } = schema['~standard']
  const said = jsonSchema?.input({ target: 'draft-2020-12' })
  if (said === undefined) return own
  const { $schema: _, ...rest } = said
  return { allOf: [own, { ...(nullable ? orNull(rest) : rest), 'x-schema': vendor }] }
}
