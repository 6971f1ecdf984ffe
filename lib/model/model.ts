/**
 * Model: the frozen description of what is served. Plain data, made once by read-model.ts; every later stage reads this and never
 * MikroORM's metadata. Relations point at their target resource directly, so a dotted path is walked without look-ups by name.
 */
import type { HookContext } from './hook-context.ts'
import type { FillRule } from './resource-config.ts'
import type { ResourceRules } from './resource-rules.ts'
import type { ScalarType } from '../foundation/values/scalar-type.ts'
import type { StoredTable } from './stored-table.ts'
import type { ValueSchema } from './value-schema.ts'

/** Where the value of a scalar attribute is found. */
export type Source =
  | { readonly kind: 'column'; readonly column: string; readonly rawDefault: boolean; readonly generated: boolean }
  /** Inside a JSON document, by its keys: an embedded object that is stored as JSON. */
  | { readonly kind: 'document'; readonly column: string; readonly keys: readonly string[] }
  /** An SQL expression of the model's own; `asksCaller`: whether its values depend on the request. */
  | { readonly kind: 'formula'; readonly sql: Formula; readonly asksCaller?: () => boolean }
  /** A fixed text in every row whose column is not NULL; NULL in all others. */
  | { readonly kind: 'tag'; readonly column: string; readonly value: string }
  /** Inside a JSON value, by names that a request gives or has given before. */
  | { readonly kind: 'within'; readonly json: ScalarAttribute; readonly names: readonly string[] }
  /** Given by a getter of the entity, of a record's plain values. */
  | { readonly kind: 'getter' }
  /** Not stored at all: it may be written, for life-cycle hooks to use. */
  | { readonly kind: 'none' }

/** An SQL expression over the columns of a table, by its alias as it stands in SQL; `quote` quotes an identifier as the database does. */
export type Formula = (alias: string, quote: (identifier: string) => string) => SqlText

/** SQL text with `?` for each bound value. */
export interface SqlText {
  readonly sql: string
  readonly values: readonly unknown[]
}

interface AttributeBase {
  /** Public name: a key of the JSON record. */
  readonly name: string
  /** Name of the property of the entity. */
  readonly property: string
  readonly nullable: boolean
  /** Never shown, filtered or sorted by; may be written. */
  readonly hidden: boolean
  /** Refused in bodies: generated, computed. */
  readonly readOnly: boolean
  /** Must be given on create: neither nullable nor defaulted nor generated. */
  readonly required: boolean
  /** The model needs a value: as `required`, also of what clients may not write, and of an embedded object that is made when left out. */
  readonly needed: boolean
  readonly filterable: boolean
  readonly sortable: boolean
  /** The flag parameter without which the attribute does not exist. */
  readonly flag: string | undefined
  /** Gives another value in answers. */
  readonly render: Renderer | undefined
  readonly schema?: ValueSchema
  /** What the engine gives to a new or a changed record, which clients may not. */
  readonly fill?: { readonly [mode in 'create' | 'update']?: FillRule }
  /** Of a relation: the name of its IDs where they have one of their own (`userId`); `idsOf`: the relation's, in `byName` under that. */
  readonly ids?: string | undefined
  readonly idsOf?: string
  /** In a hierarchy, the values of the discriminator of the classes that have the attribute; undefined: all of them. */
  readonly of?: ReadonlySet<string>
  /** Whether it is hidden for no other reason than that nobody may read what it leads to. */
  readonly closed?: boolean
  /** Whether the class of a row decides on it: other classes have something else of that name, or in one of its columns. */
  readonly byClass?: boolean
}

/** See `AttributeRules.render`. */
export type Renderer = (value: unknown, record: Readonly<Record<string, unknown>>, ctx: HookContext) => unknown

export interface ScalarAttribute extends AttributeBase {
  readonly kind: 'scalar'
  readonly type: ScalarType
  /** Whether MikroORM loads it when it is asked for alone: until then any value is a change to it. */
  readonly lazy?: true
  readonly source: Source
  /** Part of the primary key. */
  readonly primary: boolean
  /** The version property of optimistic locking. */
  readonly version: boolean
  /** The property holds the entity that has the value for its key, or a reference to it. */
  readonly links?: { readonly entity: object; readonly wrapped: boolean }
}

export interface EmbeddedAttribute extends AttributeBase {
  readonly kind: 'embedded'
  /** The embeddable class, as MikroORM takes it; undefined for a group of computed attributes. */
  readonly entity: object | undefined
  /** Where the object is stored as JSON; undefined when its attributes have columns of their own. */
  readonly document: { readonly column: string; readonly keys: readonly string[] } | undefined
  /** A list of such objects, which is always stored as JSON. */
  readonly array: boolean
  /** An object of one of several classes; its discriminator attribute names the class. `attributes` has those of all classes. */
  readonly variants: Variants | undefined
  readonly attributes: readonly InnerAttribute[]
  readonly byName: ReadonlyMap<string, InnerAttribute>
}

/** The classes that an embedded object may be of. */
export interface Variants {
  /** The discriminator attribute, which names the class. */
  readonly discriminator: string
  /** The attributes of each class, by the value of the discriminator. */
  readonly byValue: ReadonlyMap<string, readonly InnerAttribute[]>
}

export interface ToOneAttribute extends AttributeBase {
  readonly kind: 'toOne'
  readonly target: Resource
  /** Whether this table holds the foreign key; on the inverse side the target's table does. */
  readonly owner: boolean
  /** Gives the key of what is linked, instead of a foreign key. Such a link is read only. */
  readonly formula?: Formula | undefined
  /**
   * The columns of the foreign key. Owner: here, in the order of the target's key parts. Inverse: in the target's table, in the order of
   * our key parts.
   */
  readonly columns: readonly string[]
  /** The columns that the foreign key refers to, unless these are the primary key. Owner: of the target. Inverse: of this resource. */
  readonly targetKey: TargetKey | undefined
  /**
   * Columns of the foreign key beyond the key that it refers to, with those of the linked record: other attributes hold them, and must
   * agree with it.
   */
  readonly beside?: readonly { readonly column: string; readonly referred: string }[] | undefined
  /**
   * The discriminator beside the foreign key, where that may refer to several entities: see `ToOneOfAttribute`. In the table of the foreign
   * key.
   */
  readonly discriminator: Discriminator | undefined
  /** Where the foreign key is inside a JSON document, which is the one column then: in an embedded object that is stored as JSON. */
  readonly document: { readonly column: string; readonly keys: readonly string[] } | undefined
  /** Part of the primary key. */
  readonly primary: boolean
  /** The property holds the key of what it links, not an entity (MikroORM's `mapToPk`). */
  readonly holdsKey: boolean
  /** No two records may link the same one. */
  readonly unique: boolean
  /** Name of the attribute's other side on the target, if it has one. */
  readonly otherSide: string | undefined
  /** A record that is no longer linked is deleted. */
  readonly orphanRemoval: boolean
  /** Deleting the owner of the attribute deletes what it links (a cascade of the unit of work, not of the database). */
  readonly cascadeRemove: boolean
  /** Owner side only: what the database does with this row when the linked one is deleted. */
  readonly onDelete: DeleteRule
}

/** A discriminator value: it names the entity that the foreign key beside it refers to. */
export interface Discriminator {
  readonly column: string
  readonly value: string
}

/** A to-one that links a record of one of several entities: MikroORM's polymorphic relation. No foreign key constraint keeps it. */
export interface ToOneOfAttribute extends AttributeBase {
  readonly kind: 'toOneOf'
  /** A to-one for each of the entities. All have the name of this one, and its property. */
  readonly branches: readonly PolymorphicTarget[]
  /** The attribute of a linked record, and of its ID, that names its resource. */
  readonly typeName: string
  /** All columns: of the discriminator and of the key. */
  readonly columns: readonly string[]
  /** No two records may link the same one. */
  readonly unique: boolean
}

/** One of the entities that a `ToOneOfAttribute` may link. */
export interface PolymorphicTarget extends ToOneAttribute {
  readonly discriminator: Discriminator
  /** The discriminator as an attribute of a linked record: the name of its resource. */
  readonly type: ScalarAttribute
}

/** Another unique attribute than the primary key, by which foreign keys refer to a record. */
export interface TargetKey {
  /** Name of the attribute. */
  readonly name: string
  readonly property: string
  readonly part: KeyPart
}

/** The columns of the resource that a foreign key to it refers to. */
export function referredParts({ key }: Resource, targetKey: TargetKey | undefined): readonly KeyPart[] {
  return targetKey === undefined ? key : [targetKey.part]
}

/** The action of the database on a row when the row it refers to is deleted. */
export type DeleteRule = 'refuse' | 'cascade' | 'unlink'

export interface ToManyAttribute extends AttributeBase {
  readonly kind: 'toMany'
  readonly target: Resource
  /** One-to-many: rows of the target hold our key in these columns. Many-to-many: rows of a pivot table hold both. */
  readonly via:
    | {
        readonly kind: 'foreign'
        readonly columns: readonly string[]
        readonly attribute: string
        /** The columns of this resource that the link refers to, unless these are the primary key. */
        readonly targetKey: TargetKey | undefined
        /** The discriminator of rows that refer to this entity, in a table whose rows may refer to others. */
        readonly discriminator: Discriminator | undefined
      }
    | {
        readonly kind: 'pivot'
        readonly table: string
        readonly ownerColumns: readonly string[]
        readonly targetColumns: readonly string[]
        readonly orderColumn: string | undefined
        /** Whether a row may link nothing: where the pivot is an entity whose link may be empty, and in a file of another program. */
        readonly mayBeEmpty: boolean
        /** The discriminator of the rows of this list, in a table that several entities share. */
        readonly discriminator: Discriminator | undefined
        /** Whether this is the side that MikroORM writes the pivot table for. */
        readonly owner: boolean
      }
  readonly otherSide: string | undefined
  /** The condition, in MikroORM's own language, that linked records meet which are of the list; undefined: all that are linked. */
  readonly where: object | undefined
  /** The model's order of the list: pairs of a dotted path and a direction. */
  readonly orderBy: readonly { readonly path: string; readonly descending: boolean }[]
  readonly orphanRemoval: boolean
  readonly cascadeRemove: boolean
  /** Whether an ID in a body that no record has makes one, whose key it is. See `AttributeRules.create`. */
  readonly creates?: boolean
}

export type RelationAttribute = ToOneAttribute | ToManyAttribute

/** Returns the columns of its owner that a list refers to, unless these are the primary key. */
export function findTargetKey({ via }: ToManyAttribute): TargetKey | undefined {
  return via.kind === 'foreign' ? via.targetKey : undefined
}

/** An attribute inside an embedded object. A relation there holds its own foreign key. */
export type InnerAttribute = ScalarAttribute | EmbeddedAttribute | ToOneAttribute
export type Attribute = ScalarAttribute | EmbeddedAttribute | RelationAttribute | ToOneOfAttribute

/** One part of a primary key. A key that holds a relation has one part for each part of the target's key. */
export interface KeyPart {
  readonly column: string
  readonly type: ScalarType
}

/** A link between a record and the user who asks: `list` is the list of the users, of the record. See `ResourceConfig.marks`. */
export interface ResourceMark {
  readonly name: string
  readonly list: ToManyAttribute
}

/** The source of a resource's rows. */
export type TableSource =
  | { readonly kind: 'table' }
  /** The tables of a class and of those it inherits from, and of those that inherit from it, deepest first. */
  | {
      readonly kind: 'joined'
      readonly tables: readonly JoinedTable[]
      readonly optional: readonly (JoinedTable & { readonly value: string | undefined })[]
      readonly typeColumn: string
      readonly own: string
    }
  /** A query of the application's. */
  | { readonly kind: 'query'; readonly sql: string }

/** One table of several that have one key. */
interface JoinedTable {
  readonly table: string
  readonly key: readonly string[]
  readonly columns: readonly string[]
}

/** The place of an entity among those that inherit from each other. */
export interface Hierarchy {
  readonly root: Resource
  /** The discriminator column. */
  readonly column: string
  /** The discriminator attribute; undefined where the table of a row determines its class. */
  readonly attribute: string | undefined
  /** The value for the class itself; undefined for an abstract one. */
  readonly own: string | undefined
  /** The resources of the class and of those that inherit from it. */
  readonly byValue: ReadonlyMap<string, Resource>
  /** The table has rows of other classes as well. */
  readonly isShared: boolean
}

/** Returns the root of a resource's hierarchy. All records of the hierarchy share one set of keys. */
export function findHierarchyRoot(resource: Resource): Resource {
  return resource.hierarchy?.root ?? resource
}

/** One entity, as the API shows it. */
export interface Resource {
  /** The entity class, as MikroORM's entity manager takes it. */
  readonly entity: object
  readonly className: string
  readonly table: string
  readonly source: TableSource
  readonly hierarchy: Hierarchy | undefined
  /** Views and virtual entities: nothing of them can be written. */
  readonly readOnly: boolean
  readonly plural: string
  readonly singular: string
  readonly accepted: readonly string[]
  readonly attributes: readonly Attribute[]
  readonly byName: ReadonlyMap<string, Attribute>
  readonly key: readonly KeyPart[]
  /** Public names of the attributes that make the key. */
  readonly keyNames: readonly string[]
  /** The unique attribute that takes the place of the key wherever clients meet one; undefined: they meet the key itself. */
  readonly shownKey: TargetKey | undefined
  /**
   * The columns of the default order: the key, or, without one, the column of the order in which rows were inserted. Empty where there is
   * neither.
   */
  readonly order: readonly string[]
  /** The key is one integer that the database counts up. */
  readonly generatedKey: boolean
  /** The attribute of optimistic locking. */
  readonly version: ScalarAttribute | undefined
  /** Sets of attributes (dotted public paths) whose values together must be unique. The key is not among them. */
  readonly uniques: readonly (readonly string[])[]
  /** To-one attributes of any resource that refer to this one, with their dotted paths. */
  readonly referrers: readonly { readonly resource: Resource; readonly attribute: ToOneAttribute; readonly path: string }[]
  /** Links of the user who asks, which have paths of their own, by name. */
  readonly marks: ReadonlyMap<string, ResourceMark>
  /** Whether it is a resource of this version; else it is only known as the target of relations. */
  readonly served: boolean
  /** What it keeps that the model does not name; undefined: nothing. */
  readonly open: OpenAttributes | undefined
  readonly rules: ResourceRules
  /** Reads how statements of the engine write its records, when one is first written; undefined: MikroORM's unit of work writes them. */
  readonly readStored: () => StoredTable | undefined
  /** Why it has no stored table, as the rest of "since …"; undefined where nothing of the entity alone says so. */
  readonly explainStored: () => string | undefined
}

/** See `ResourceConfig.open`. */
export interface OpenAttributes {
  /** The hidden attribute that holds the values, as one JSON object. */
  readonly holder: ScalarAttribute
  /** Only the first request that gives more names adds them. */
  readonly once: boolean
  /** Names that are never added. */
  readonly except: ReadonlySet<string>
  /** The names that have been added, in their order. */
  readonly learned: readonly string[]
}

/** Everything that is served. */
export interface Model {
  readonly resources: readonly Resource[]
  /** Every entity, those too that are not served in this version. */
  readonly entities: readonly Resource[]
  /** By what the application passed as entity, and by MikroORM's class for it. */
  readonly byEntity: ReadonlyMap<object, Resource>
  /** By every accepted path segment. */
  readonly byName: ReadonlyMap<string, Resource>
  /** Names of the flag parameters of computed attributes. */
  readonly flags: ReadonlySet<string>
  /** Whether a request may add attributes to a resource. */
  readonly isOpen: boolean
}

export function isRelation(attribute: Attribute): attribute is RelationAttribute {
  return attribute.kind === 'toOne' || attribute.kind === 'toMany'
}

/** Lists the resources that a relation of any kind may link: one, or several. */
export function listTargets(attribute: RelationAttribute | ToOneOfAttribute): readonly Resource[] {
  return attribute.kind === 'toOneOf' ? attribute.branches.map(({ target }) => target) : [attribute.target]
}

/** Whether the attribute is a plain value or an object of such. */
export function isValue(attribute: Attribute): attribute is ScalarAttribute | EmbeddedAttribute {
  return attribute.kind === 'scalar' || attribute.kind === 'embedded'
}

/** The columns of an attribute in the table of its owner. */
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
