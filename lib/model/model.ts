/**
 * The types of the model, with resources, attributes and keys: metadata/read-model.ts makes a version's model once, frozen; all stages of a
 * request read the model.
 */
import type { HookContext } from './hook-context.ts'
import type { FillRule, ValueSchema } from './resource-config.ts'
import type { ResourceRules } from './resource-rules.ts'
import type { ScalarType } from '../foundation/values/scalar-type.ts'
import type { StoredTable } from './stored-table.ts'

export type Source =
  | { readonly kind: 'column'; readonly column: string; readonly rawDefault: boolean; readonly generated: boolean }
  /** Inside an object stored as JSON. */
  | { readonly kind: 'document'; readonly column: string; readonly keys: readonly string[] }
  /** `asksCaller`: whether the value depends on the caller. */
  | { readonly kind: 'formula'; readonly sql: Formula; readonly asksCaller?: () => boolean }
  /** A fixed text where the column is not NULL. */
  | { readonly kind: 'tag'; readonly column: string; readonly value: string }
  /** Inside a JSON value, by names from requests. */
  | { readonly kind: 'within'; readonly json: ScalarAttribute; readonly names: readonly string[] }
  | { readonly kind: 'getter' }
  /** Not stored: written only for life-cycle hooks. */
  | { readonly kind: 'none' }

/** SQL over a table's columns. `alias` comes quoted; `quote` quotes an identifier. */
export type Formula = (alias: string, quote: (identifier: string) => string) => SqlText

/** `?` stands for each bound value. */
export interface SqlText {
  readonly sql: string
  readonly values: readonly unknown[]
}

interface AttributeBase {
  readonly name: string
  /** The entity's property. */
  readonly property: string
  readonly nullable: boolean
  /** Never shown, filtered or sorted by; may be written. */
  readonly hidden: boolean
  /** Refused in bodies. */
  readonly readOnly: boolean
  /** A POST must give a value. */
  readonly required: boolean
  /** A new row needs a value, also from the engine alone. */
  readonly needed: boolean
  readonly filterable: boolean
  readonly sortable: boolean
  /** The attribute exists only with this parameter. */
  readonly flag: string | undefined
  readonly render: Renderer | undefined
  readonly schema?: ValueSchema
  readonly fill?: { readonly [mode in 'create' | 'update']?: FillRule }
  /** A relation's second name, for IDs: `userId`. See ids-name.ts. */
  readonly ids?: string | undefined
  /** In the copy under the second name: the first. */
  readonly idsOf?: string
  /** Discriminator values of the classes with the attribute. Undefined: all. */
  readonly classValues?: ReadonlySet<string>
  /** Hidden only because nobody may read the target. */
  readonly closed?: boolean
  /** Whether readers need the row's class: other classes use the name or column otherwise. */
  readonly byClass?: boolean
}

/** Shows another value: `AttributeRules.render`. */
export type Renderer = (value: unknown, record: Readonly<Record<string, unknown>>, ctx: HookContext) => unknown

export interface ScalarAttribute extends AttributeBase {
  readonly kind: 'scalar'
  readonly type: ScalarType
  /** MikroORM loads the value on demand: before, any new value is a change. */
  readonly lazy?: true
  readonly source: Source
  readonly primary: boolean
  /** For optimistic locking. */
  readonly version: boolean
  /** The property holds an entity with this key or, if `wrapped`, a reference. */
  readonly links?: { readonly entity: object; readonly wrapped: boolean }
}

export interface EmbeddedAttribute extends AttributeBase {
  readonly kind: 'embedded'
  /** Undefined: a group of computed attributes. */
  readonly entity: object | undefined
  /** Undefined: the attributes have columns. */
  readonly document: { readonly column: string; readonly keys: readonly string[] } | undefined
  readonly array: boolean
  /** For several classes: `attributes` has the attributes of all. */
  readonly variants: Variants | undefined
  readonly attributes: readonly InnerAttribute[]
  readonly byName: ReadonlyMap<string, InnerAttribute>
}

export interface Variants {
  readonly discriminator: string
  /** By discriminator value. */
  readonly byValue: ReadonlyMap<string, readonly InnerAttribute[]>
}

export interface ToOneAttribute extends AttributeBase {
  readonly kind: 'toOne'
  readonly target: Resource
  readonly owner: boolean
  /** SQL in the place of a foreign key. Read-only. */
  readonly formula?: Formula | undefined
  /** The foreign key, in the order of the key: the owner's in this table, the inverse's in the target's. */
  readonly columns: readonly string[]
  /** The key behind the foreign key. Undefined: the primary key. */
  readonly targetKey: TargetKey | undefined
  /** Further columns, held by other attributes: `(org_id, user_id)` refers to `(org_id, id)`. */
  readonly beside?: readonly { readonly column: string; readonly referred: string }[] | undefined
  /** In a branch of `ToOneOfAttribute`: says this entity. */
  readonly discriminator: Discriminator | undefined
  /** The place of a foreign key inside a JSON column. */
  readonly document: { readonly column: string; readonly keys: readonly string[] } | undefined
  readonly primary: boolean
  /** `mapToPk`: the property holds the key. */
  readonly holdsKey: boolean
  readonly unique: boolean
  readonly otherSide: string | undefined
  readonly orphanRemoval: boolean
  /** Deleting the owner deletes linked records, by MikroORM, not the database. */
  readonly cascadeRemove: boolean
  /** Owner only. */
  readonly onDelete: DeleteRule
}

export interface Discriminator {
  readonly column: string
  readonly value: string
}

/** A link to one of several entities, polymorphic in MikroORM: `{ type: 'post', id: 7 }`. No foreign key is checked. */
export interface ToOneOfAttribute extends AttributeBase {
  readonly kind: 'toOneOf'
  readonly branches: readonly PolymorphicTarget[]
  /** The member with the resource's name: `type`. */
  readonly typeName: string
  /** Discriminator and key. */
  readonly columns: readonly string[]
  readonly unique: boolean
}

export interface PolymorphicTarget extends ToOneAttribute {
  readonly discriminator: Discriminator
  readonly type: ScalarAttribute
}

/** A unique attribute, in the place of the primary key. */
export interface TargetKey {
  readonly name: string
  readonly property: string
  readonly part: KeyPart
}

export function referredParts({ key }: Resource, targetKey: TargetKey | undefined): readonly KeyPart[] {
  return targetKey === undefined ? key : [targetKey.part]
}

/** For a row, when the linked row is deleted. */
export type DeleteRule = 'refuse' | 'cascade' | 'unlink'

export interface ToManyAttribute extends AttributeBase {
  readonly kind: 'toMany'
  readonly target: Resource
  /** `foreign`: rows of the target hold this record's key. `pivot`: rows of a link table hold both keys. */
  readonly via:
    | {
        readonly kind: 'foreign'
        readonly columns: readonly string[]
        readonly attribute: string
        /** Undefined: the link refers to the primary key. */
        readonly targetKey: TargetKey | undefined
        /** For a table with links to several entities. */
        readonly discriminator: Discriminator | undefined
      }
    | {
        readonly kind: 'pivot'
        readonly table: string
        readonly ownerColumns: readonly string[]
        readonly targetColumns: readonly string[]
        readonly orderColumn: string | undefined
        /** A row may link no member: an optional link in the application's pivot, a file of another program. */
        readonly mayBeEmpty: boolean
        /** For a table shared by several entities. */
        readonly discriminator: Discriminator | undefined
        readonly owner: boolean
      }
  readonly otherSide: string | undefined
  /** A MikroORM condition for members; undefined: all linked records. */
  readonly where: object | undefined
  readonly orderBy: readonly { readonly path: string; readonly descending: boolean }[]
  readonly orphanRemoval: boolean
  readonly cascadeRemove: boolean
  readonly creates?: boolean
}

export type RelationAttribute = ToOneAttribute | ToManyAttribute

/** Undefined: the links refer to the primary key. */
export function findTargetKey({ via }: ToManyAttribute): TargetKey | undefined {
  return via.kind === 'foreign' ? via.targetKey : undefined
}

export type InnerAttribute = ScalarAttribute | EmbeddedAttribute | ToOneAttribute
export type Attribute = ScalarAttribute | EmbeddedAttribute | RelationAttribute | ToOneOfAttribute

/** One column. A relation has a part for each column of the target's key. */
export interface KeyPart {
  readonly column: string
  readonly type: ScalarType
}

/** `list`: the record's users. See `ResourceConfig.marks`. */
export interface ResourceMark {
  readonly name: string
  readonly list: ToManyAttribute
}

export type TableSource =
  | { readonly kind: 'table' }
  /** `tables`: of the class and its ancestors. `optional`: of descendants, deepest first. */
  | {
      readonly kind: 'joined'
      readonly tables: readonly JoinedTable[]
      readonly optional: readonly (JoinedTable & { readonly value: string | undefined })[]
      readonly typeColumn: string
      readonly classValue: string
    }
  | { readonly kind: 'query'; readonly sql: string }

/** Joined by key. */
interface JoinedTable {
  readonly table: string
  readonly key: readonly string[]
  readonly columns: readonly string[]
}

export interface Hierarchy {
  readonly root: Resource
  readonly column: string
  /** The discriminator attribute. Undefined: the table says the class. */
  readonly attribute: string | undefined
  /** The class's own discriminator value; undefined: abstract. */
  readonly classValue: string | undefined
  readonly byValue: ReadonlyMap<string, Resource>
  /** Whether other classes have rows in the table. */
  readonly isShared: boolean
}

export function findHierarchyRoot(resource: Resource): Resource {
  return resource.hierarchy?.root ?? resource
}

export interface Resource {
  readonly entity: object
  readonly className: string
  readonly table: string
  readonly source: TableSource
  readonly hierarchy: Hierarchy | undefined
  readonly readOnly: boolean
  readonly plural: string
  readonly singular: string
  readonly accepted: readonly string[]
  readonly attributes: readonly Attribute[]
  readonly byName: ReadonlyMap<string, Attribute>
  readonly key: readonly KeyPart[]
  /** Public names. */
  readonly keyNames: readonly string[]
  /** The key seen by clients, if not primary. */
  readonly shownKey: TargetKey | undefined
  /** Columns to order records by: place in the file, key. Empty: insertion. */
  readonly order: readonly string[]
  /** Whether the database counts the key. */
  readonly generatedKey: boolean
  /** For optimistic locking. */
  readonly version: ScalarAttribute | undefined
  /** Dotted paths, unique together. Without the key. */
  readonly uniques: readonly (readonly string[])[]
  /** Links to this resource's records. */
  readonly referrers: readonly { readonly resource: Resource; readonly attribute: ToOneAttribute; readonly path: string }[]
  readonly marks: ReadonlyMap<string, ResourceMark>
  /** False: no paths, only links. */
  readonly served: boolean
  readonly open: OpenAttributes | undefined
  readonly rules: ResourceRules
  /** Undefined: the unit of work writes. */
  readonly readStored: () => StoredTable | undefined
  /** Why not, to follow "since …". Undefined: not for the entity's sake. */
  readonly explainStored: () => string | undefined
}

/** Where values of unknown names go: `ResourceConfig.open`. */
export interface OpenAttributes {
  /** The hidden attribute with all values in a JSON object. */
  readonly holder: ScalarAttribute
  /** Only the first request with new names adds names. */
  readonly once: boolean
  /** Names never added. */
  readonly except: ReadonlySet<string>
  /** Whether the holder keeps nulls and misfits of columns, too: an attribute in neither place is missing. */
  readonly exact: boolean
  readonly learned: readonly string[]
}

export interface Model {
  readonly resources: readonly Resource[]
  /** Includes entities not served in this version. */
  readonly entities: readonly Resource[]
  /** By the application's entity and by MikroORM's class. */
  readonly byEntity: ReadonlyMap<object, Resource>
  /** By every accepted path segment. */
  readonly byName: ReadonlyMap<string, Resource>
  readonly flags: ReadonlySet<string>
  readonly isOpen: boolean
}

export function isRelation(attribute: Attribute): attribute is RelationAttribute {
  return attribute.kind === 'toOne' || attribute.kind === 'toMany'
}

export function listTargets(attribute: RelationAttribute | ToOneOfAttribute): readonly Resource[] {
  return attribute.kind === 'toOneOf' ? attribute.branches.map(({ target }) => target) : [attribute.target]
}

export function isValue(attribute: Attribute): attribute is ScalarAttribute | EmbeddedAttribute {
  return attribute.kind === 'scalar' || attribute.kind === 'embedded'
}

export function tableColumns(attribute: Attribute): readonly string[] {
  switch (attribute.kind) {
    case 'scalar':
      return attribute.source.kind === 'column' ? [attribute.source.column] : []
    case 'embedded':
      return attribute.document === undefined ? attribute.attributes.flatMap(tableColumns) : [attribute.document.column]
    case 'toOne':
      if (!attribute.owner) return []
      return attribute.discriminator === undefined ? attribute.columns : [attribute.discriminator.column, ...attribute.columns]
    case 'toOneOf':
      return attribute.columns
    case 'toMany':
      return []
  }
}
