/** The parts of a diagram as plain data, resources with attributes, and relations. */

/** Records at an end, for a record at the other end. */
export type Cardinality = 'one' | 'zeroOrOne' | 'many'
export interface DiagramAttribute {
  readonly name: string
  readonly type: string
  readonly isKey: boolean
  readonly isRelation: boolean
  readonly mayBeEmpty: boolean
}
export interface DiagramEntity {
  /** Plural name. */
  readonly name: string
  readonly singular: string
  readonly attributes: readonly DiagramAttribute[]
}

export interface RelationEnd {
  /** Plural name. */
  readonly entity: string
  /** Leads to the other end; dotted inside an embedded object. */
  readonly attribute: string | undefined
  readonly cardinality: Cardinality
}

export interface DiagramRelation {
  /** The end with the foreign key; for many-to-many the owning side. */
  readonly from: RelationEnd
  readonly to: RelationEnd
}
export interface Diagram {
  readonly entities: readonly DiagramEntity[]
  readonly relations: readonly DiagramRelation[]
}
