/** Describes records in answers, with relations as IDs or as objects. */
import { idParts } from '../../model/key.ts'
import { isIds } from '../../model/ids-name.ts'
import type { Attribute, EmbeddedAttribute, Resource, ToOneAttribute, ToOneOfAttribute } from '../../model/model.ts'
import { isRelation, listTargets } from '../../model/model.ts'
import { branchesFor, existsFor } from '../../records/plan/visibility.ts'
import { pascalCase } from './components.ts'
import { ANY, anyOf, describeObject, orNull, type Schema } from './schema.ts'
import type { ScalarType } from '../../foundation/values/scalar-type.ts'
import { answerSchema, compositeKeySchema, keySchema } from './scalar-schemas.ts'
import { Describer, type DocumentParts } from './describer.ts'

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
