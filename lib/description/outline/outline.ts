/**
 * Outline: a version as the workbench needs it: resources with their attributes, what may be done with them, and the names of parameters. A tenth of an OpenAPI document. It
 * has what that document has: nothing that is hidden, and nothing that the rules forbid to everybody.
 */
import { shownName } from '../../model/ids-name.ts'
import { idNames } from '../../model/key.ts'
import { isRelation, listTargets } from '../../model/model.ts'
import type { Attribute, Model, Resource } from '../../model/model.ts'
import { isCreatable } from '../../records/access/resolve-path.ts'
import { existsFor, hasVisibleTarget, isOpen } from '../../records/plan/visibility.ts'
import type { Visibility } from '../../records/plan/visibility.ts'
import type { Reserved } from '../../records/request/reserved-parameters.ts'
import { describedVisibility } from '../openapi/source.ts'

/** An attribute, as the workbench shows and edits it. */
export interface OutlinedAttribute {
  readonly name: string
  /** The name of the IDs of a relation, where they have one of their own: `userId`. */
  readonly ids?: string
  readonly kind: 'scalar' | 'embedded' | 'toOne' | 'toOneOf' | 'toMany'
  /** What its values are: `text`, `integer`, `enum`, `object`; of a relation the plural names of the resources that it links. */
  readonly type: string
  /** The values that an enum may have. */
  readonly items?: readonly (string | number)[]
  /** The resource that a relation links, by its plural name, where it is one. */
  readonly target?: string
  /** The name of the relation on the other side. */
  readonly otherSide?: string
  readonly nullable: boolean
  readonly required: boolean
  readonly readOnly: boolean
  readonly unique: boolean
  readonly filterable: boolean
  readonly sortable: boolean
  /** The parameter without which answers do not have it. */
  readonly flag?: string
  /** The attributes of an object. */
  readonly attributes?: readonly OutlinedAttribute[]
}

export interface OutlinedResource {
  /** Plural name: a segment of paths, and the key of the records in an answer. */
  readonly name: string
  readonly singular: string
  /** The names of the attributes that make the ID. */
  readonly key: readonly string[]
  /** The attribute of optimistic locking. */
  readonly version?: string
  /** Which attribute names a record to a reader: `name`, `title`, `label`, `email`, else the first text that every record has. */
  readonly label?: string
  readonly creates: boolean
  readonly updates: boolean
  readonly deletes: boolean
  readonly attributes: readonly OutlinedAttribute[]
  /** What bodies may have and no answer shows: a password. */
  readonly writeOnly?: readonly OutlinedAttribute[]
  /** What becomes of others when a record is deleted. */
  readonly whenDeleted?: readonly OutlinedDeletion[]
}

/** Records that refer to a deleted one, or are linked by it. */
export interface OutlinedDeletion {
  /** Their resource, by its plural name. */
  readonly resource: string
  /** The path of theirs that refers to the deleted record: a filter of the resource finds them. Undefined where only the list of the record does. */
  readonly by?: string
  /** The list or link of the deleted record, where no filter finds them. */
  readonly attribute?: string
  /** `delete`: they go, too. `unlink`: they stay, without the link. `refuse`: while there are some, the record cannot be deleted. */
  readonly rule: 'delete' | 'unlink' | 'refuse'
}

export interface Outline {
  /** What is served, for the head of the page: `the sample model`. */
  readonly title: string
  /** The kind of its database: `SQLite in memory`. */
  readonly database: string
  /** Whether the data are gone with the process, as those of a fork are: nobody's, to begin anew at will. */
  readonly inMemory: boolean
  readonly base: string
  /** The path in front of resources: `/api/v1`. */
  readonly root: string
  readonly version: string
  readonly versions: readonly string[]
  readonly readOnly: boolean
  /** The resource of those who log in; null where nobody does, or this version does not serve them. */
  readonly users: string | null
  /** Whether requests may need a token. */
  readonly hasLogIn: boolean
  /** The names that the application gave to parameters: `limit`, `offset`, `sort`, `depth`, `attributes`, `expand`. */
  readonly parameters: Readonly<Partial<Record<Reserved, string>>>
  readonly resources: readonly OutlinedResource[]
  /** Whether the server has a docs page. */
  readonly docs: boolean
  /** The address of the list of engines that this one is shown in. */
  readonly home?: string
}

/** What an engine says of itself; what the page is beside knows its server. */
export type OutlineOfEngine = Omit<Outline, 'docs' | 'home'>

/** Lists the resources of a version. */
export function outlineResources(model: Model, isReadOnly: boolean): OutlinedResource[] {
  const visibility = describedVisibility(model)
  return model.resources.filter(resource => isOpen(resource)).map(resource => outlineResource(resource, visibility, isReadOnly))
}

function outlineResource(resource: Resource, visibility: Visibility, isReadOnly: boolean): OutlinedResource {
  const { access } = resource.rules
  const writes = !isReadOnly && !resource.readOnly
  const label = findLabel(resource, visibility)
  const written = resource.attributes.filter(attribute => isWriteOnly(attribute, visibility))
  const deletions = outlineDeletions(resource, visibility)
  return {
    name: resource.plural,
    singular: resource.singular,
    key: idNames(resource),
    ...(resource.version === undefined ? {} : { version: resource.version.name }),
    ...(label === undefined ? {} : { label }),
    creates: writes && isCreatable(resource) && access.create !== false,
    updates: writes && access.update !== false,
    deletes: writes && access.delete !== false,
    attributes: outlineAttributes(
      resource.attributes.filter(attribute => existsFor(attribute, visibility)),
      resource,
      visibility,
    ),
    ...(written.length === 0 || !writes ? {} : { writeOnly: outlineAttributes(written, resource, visibility) }),
    ...(deletions.length === 0 ? {} : { whenDeleted: deletions }),
  }
}

/** Whether bodies may have an attribute that no answer shows: a password, or a value that hooks of the entity use. */
function isWriteOnly(attribute: Attribute, visibility: Visibility): boolean {
  const isStored = attribute.kind !== 'scalar' || attribute.source.kind !== 'none'
  return !attribute.readOnly && (attribute.hidden || !isStored) && attribute.closed !== true && hasVisibleTarget(attribute, visibility)
}

function outlineDeletions(resource: Resource, visibility: Visibility): OutlinedDeletion[] {
  const cascading = resource.attributes.filter(
    attribute => isRelation(attribute) && attribute.cascadeRemove && existsFor(attribute, visibility),
  )
  const referring = resource.referrers
    .filter(({ resource: other, attribute }) => isOpen(other) && other.served && existsFor(attribute, visibility))
    .map(({ resource: other, attribute, path }) => {
      const isCascading = cascading.some(list => isRelation(list) && list.target === other && list.otherSide === path)
      const rule = isCascading || attribute.onDelete === 'cascade' ? 'delete' : attribute.onDelete
      return { resource: other.plural, by: path, rule } as const
    })
  const linked = cascading.flatMap(attribute => {
    if (!isRelation(attribute) || !isOpen(attribute.target)) return []
    const { plural } = attribute.target
    const isKnown = referring.some(other => other.resource === plural && other.by === attribute.otherSide)
    return isKnown ? [] : [{ resource: plural, attribute: attribute.name, rule: 'delete' } as const]
  })
  return [...referring, ...linked]
}

function outlineAttributes(attributes: readonly Attribute[], resource: Resource, visibility: Visibility): OutlinedAttribute[] {
  const unique = new Set(resource.uniques.flatMap(names => (names.length === 1 ? names : [])))
  return attributes.map(attribute => {
    const { name, nullable, required, readOnly, filterable, sortable, flag } = attribute
    const shown = shownName(attribute)
    return {
      name,
      ...(shown === name ? {} : { ids: shown }),
      kind: attribute.kind,
      nullable,
      required,
      readOnly,
      unique: unique.has(name),
      filterable,
      sortable,
      ...(flag === undefined ? {} : { flag }),
      ...outlineType(attribute, resource, visibility),
    }
  })
}

type TypeOfAttribute = Pick<OutlinedAttribute, 'type' | 'items' | 'target' | 'otherSide' | 'attributes'>

function outlineType(attribute: Attribute, resource: Resource, visibility: Visibility): TypeOfAttribute {
  switch (attribute.kind) {
    case 'scalar': {
      const { kind, items } = attribute.type
      if (attribute.render !== undefined) return { type: 'any' }
      return items === undefined || kind === 'array' ? { type: kind === 'array' ? 'list' : kind } : { type: 'enum', items }
    }
    case 'embedded':
      return {
        type: attribute.array ? 'list of objects' : 'object',
        attributes: outlineAttributes(
          attribute.attributes.filter(inner => existsFor(inner, visibility)),
          resource,
          visibility,
        ),
      }
    case 'toOneOf':
      return {
        type: listTargets(attribute)
          .map(({ plural }) => plural)
          .join(', '),
      }
    default: {
      const { target, otherSide } = attribute
      return { type: target.plural, target: target.plural, ...(otherSide === undefined ? {} : { otherSide }) }
    }
  }
}

const LABELS = ['name', 'title', 'label', 'email']

function findLabel(resource: Resource, visibility: Visibility): string | undefined {
  const texts = resource.attributes.filter(
    attribute =>
      attribute.kind === 'scalar' &&
      attribute.type.kind === 'text' &&
      attribute.flag === undefined &&
      attribute.render === undefined &&
      existsFor(attribute, visibility),
  )
  const named = LABELS.flatMap(name => texts.filter(text => text.name === name))
  return (named[0] ?? texts.find(({ required }) => required))?.name
}
