/** Outline parts: the outline of a version as plain data. */
import type { Reserved } from '../../records/request/reserved-parameters.ts'

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

/** Records that refer to a deleted one, or are linked by it. */
export interface OutlinedDeletion {
  /** Their resource, by its plural name. */
  readonly resource: string
  /**
   * The path of theirs that refers to the deleted record: a filter of the resource finds them. Undefined where only the list of the record
   * does.
   */
  readonly by?: string
  /** The list or link of the deleted record, where no filter finds them. */
  readonly attribute?: string
  /** `delete`: they go, too. `unlink`: they stay, without the link. `refuse`: while there are some, the record cannot be deleted. */
  readonly rule: 'delete' | 'unlink' | 'refuse'
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
