/** Diagram parts: a diagram as plain data: resources with their attributes, and relations between them. */

/** How many records may be at one end of a relation, for a record at the other end. */
export type Cardinality = 'one' | 'zeroOrOne' | 'many'
export interface DiagramAttribute {
  readonly name: string
  /** The kind of a value, or the name of the related resource. */
  readonly type: string
  readonly isKey: boolean
  readonly isRelation: boolean
  /** Whether it may be null, or be an empty list. */
  readonly mayBeEmpty: boolean
}
export interface DiagramEntity {
  /** The plural name of the resource. */
  readonly name: string
  readonly singular: string
  readonly attributes: readonly DiagramAttribute[]
}

export interface RelationEnd {
  /** Plural name of the resource. */
  readonly entity: string
  /** The attribute of this resource that leads to the other end; dotted inside an embedded object. Undefined: none does. */
  readonly attribute: string | undefined
  /** Records at this end for a record at the other end. */
  readonly cardinality: Cardinality
}

/** A relation between two resources, whichever of them has attributes for it. */
export interface DiagramRelation {
  /** The end that holds the reference; of many-to-many the owning side. */
  readonly from: RelationEnd
  readonly to: RelationEnd
}
export interface Diagram {
  readonly entities: readonly DiagramEntity[]
  readonly relations: readonly DiagramRelation[]
}
