/**
 * Model: the frozen description of the API, made once by metadata/read-model.ts for all stages. Relations hold their target resource, so
 * walking a dotted path needs no look-ups.
 */
import type { HookContext } from './hook-context.ts'
import type { FillRule } from './resource-config.ts'
import type { ResourceRules } from './resource-rules.ts'
import type { ScalarType } from '../foundation/values/scalar-type.ts'
import type { StoredTable } from './stored-table.ts'
import type { ValueSchema } from './value-schema.ts'

export type Source =
  | { readonly kind: 'column'; readonly column: string; readonly rawDefault: boolean; readonly generated: boolean }
  /** Inside an object stored as JSON. */
  | { readonly kind: 'document'; readonly column: string; readonly keys: readonly string[] }
  /** `asksCaller`: whether values depend on the request. */
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
  /** On create: neither nullable nor defaulted nor generated. */
  readonly required: boolean
  /** Like `required`, but also for values clients may not write, and for an embedded object made when left out. */
  readonly needed: boolean
  readonly filterable: boolean
  readonly sortable: boolean
  /** The flag parameter the attribute needs to exist. */
  readonly flag: string | undefined
  readonly render: Renderer | undefined
  readonly schema?: ValueSchema
  /** Values from the engine, which clients may not give. */
  readonly fill?: { readonly [mode in 'create' | 'update']?: FillRule }
  /** The name of a relation's IDs, if separate (`userId`). `idsOf`: the relation's name, in the `byName` entry for the IDs. */
  readonly ids?: string | undefined
  readonly idsOf?: string
  /** Discriminator values of the classes with the attribute. Undefined: all. */
  readonly classValues?: ReadonlySet<string>
  /** Hidden only because nobody may read the target. */
  readonly closed?: boolean
  /** A row's class decides: others use the name or a column for something else. */
  readonly byClass?: boolean
}

/** Shows another value: `AttributeRules.render`. */
export type Renderer = (value: unknown, record: Readonly<Record<string, unknown>>, ctx: HookContext) => unknown

export interface ScalarAttribute extends AttributeBase {
  readonly kind: 'scalar'
  readonly type: ScalarType
  /** Loaded only on demand: until then, any new value is a change. */
  readonly lazy?: true
  readonly source: Source
  readonly primary: boolean
  /** For optimistic locking. */
  readonly version: boolean
  /** The property holds an entity with this key, or (`wrapped`) a reference. */
  readonly links?: { readonly entity: object; readonly wrapped: boolean }
}

export interface EmbeddedAttribute extends AttributeBase {
  readonly kind: 'embedded'
  /** Undefined: a group of computed attributes. */
  readonly entity: object | undefined
  /** Undefined: attributes have columns of their own. */
  readonly document: { readonly column: string; readonly keys: readonly string[] } | undefined
  /** A list of objects, always stored as JSON. */
  readonly array: boolean
  /** For an object of several classes. `attributes` has those of all classes. */
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
  /** This table holds the foreign key. */
  readonly owner: boolean
  /** SQL in the place of a foreign key. Read-only. */
  readonly formula?: Formula | undefined
  /** The foreign key. Owner: in this table, ordered as the target's key. Inverse: in the target's table, ordered as this key. */
  readonly columns: readonly string[]
  /** The key referred to, unless primary. Owner: the target's. Inverse: this resource's. */
  readonly targetKey: TargetKey | undefined
  /** Columns beyond the key, with the linked record's. Other attributes hold these columns and must agree. */
  readonly beside?: readonly { readonly column: string; readonly referred: string }[] | undefined
  /** Names this entity, in a link to several (`ToOneOfAttribute`). */
  readonly discriminator: Discriminator | undefined
  /** The place of the foreign key in a JSON column, if there. */
  readonly document: { readonly column: string; readonly keys: readonly string[] } | undefined
  readonly primary: boolean
  /** `mapToPk`: the property holds the key. */
  readonly holdsKey: boolean
  readonly unique: boolean
  /** The name on the target. */
  readonly otherSide: string | undefined
  readonly orphanRemoval: boolean
  /** Deleting the owner deletes linked records: MikroORM's cascade, not the database's. */
  readonly cascadeRemove: boolean
  /** Owner only. */
  readonly onDelete: DeleteRule
}

export interface Discriminator {
  readonly column: string
  readonly value: string
}

/** A link to one of several entities: MikroORM's polymorphic relation. No foreign key is checked. */
export interface ToOneOfAttribute extends AttributeBase {
  readonly kind: 'toOneOf'
  /** For each entity, with the same name and property. */
  readonly branches: readonly PolymorphicTarget[]
  /** The member that names the resource, in a linked record and in an ID. */
  readonly typeName: string
  /** Discriminator and key. */
  readonly columns: readonly string[]
  readonly unique: boolean
}

export interface PolymorphicTarget extends ToOneAttribute {
  readonly discriminator: Discriminator
  /** The discriminator, shown as a linked record's resource name. */
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

/** What becomes of a row when the linked row is deleted. */
export type DeleteRule = 'refuse' | 'cascade' | 'unlink'

export interface ToManyAttribute extends AttributeBase {
  readonly kind: 'toMany'
  readonly target: Resource
  /** One-to-many: rows of the target hold this key. Many-to-many: pivot rows hold both keys. */
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
        /** A row may link nothing: an application's pivot with an optional link, a file of another program. */
        readonly mayBeEmpty: boolean
        /** For a table shared by several entities. */
        readonly discriminator: Discriminator | undefined
        /** Whether MikroORM writes the pivot from this side. */
        readonly owner: boolean
      }
  readonly otherSide: string | undefined
  /** A MikroORM condition for members; undefined: all linked records. */
  readonly where: object | undefined
  readonly orderBy: readonly { readonly path: string; readonly descending: boolean }[]
  readonly orphanRemoval: boolean
  readonly cascadeRemove: boolean
  /** Unknown IDs create records. */
  readonly creates?: boolean
}

export type RelationAttribute = ToOneAttribute | ToManyAttribute

/** Undefined: the primary key. */
export function findTargetKey({ via }: ToManyAttribute): TargetKey | undefined {
  return via.kind === 'foreign' ? via.targetKey : undefined
}

export type InnerAttribute = ScalarAttribute | EmbeddedAttribute | ToOneAttribute
export type Attribute = ScalarAttribute | EmbeddedAttribute | RelationAttribute | ToOneOfAttribute

/** A relation in a key has the parts of the target's key. */
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
  /** Tables of a class and its ancestors, and of descendants, deepest first. */
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
  /** The discriminator attribute; undefined where the table determines a row's class. */
  readonly attribute: string | undefined
  /** The class's own discriminator value; undefined: abstract. */
  readonly classValue: string | undefined
  /** The class and its descendants. */
  readonly byValue: ReadonlyMap<string, Resource>
  /** Also rows of other classes. */
  readonly isShared: boolean
}

/** Keys are unique in the whole hierarchy. */
export function findHierarchyRoot(resource: Resource): Resource {
  return resource.hierarchy?.root ?? resource
}

export interface Resource {
  readonly entity: object
  readonly className: string
  readonly table: string
  readonly source: TableSource
  readonly hierarchy: Hierarchy | undefined
  /** As views and virtual entities are. */
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
  /** Columns of the place in the data, then of the key. Empty: by insertion. */
  readonly order: readonly string[]
  /** The key is one integer the database counts. */
  readonly generatedKey: boolean
  /** For optimistic locking. */
  readonly version: ScalarAttribute | undefined
  /** Dotted paths that are unique together. Without the key. */
  readonly uniques: readonly (readonly string[])[]
  /** To-one attributes with links to the resource, by dotted paths. */
  readonly referrers: readonly { readonly resource: Resource; readonly attribute: ToOneAttribute; readonly path: string }[]
  readonly marks: ReadonlyMap<string, ResourceMark>
  /** False for a mere target of relations. */
  readonly served: boolean
  readonly open: OpenAttributes | undefined
  readonly rules: ResourceRules
  /** Read by the first write. Undefined: MikroORM's unit of work writes. */
  readonly readStored: () => StoredTable | undefined
  /** Completes "since …": why there is no stored table. Undefined: the entity alone gives no reason. */
  readonly explainStored: () => string | undefined
}

/** Unknown names: `ResourceConfig.open`. */
export interface OpenAttributes {
  /** The hidden attribute with all values in a JSON object. */
  readonly holder: ScalarAttribute
  /** Only the first request with new names adds names. */
  readonly once: boolean
  /** Names never added. */
  readonly except: ReadonlySet<string>
  /** The holder keeps null and misfits of columns. Attributes in neither place are lacking. */
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
