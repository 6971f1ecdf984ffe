/** The workbench's view of a version, as plain data. */
import type { Reserved } from '../../records/request/reserved-parameters.ts'

export interface OutlinedAttribute {
  readonly name: string
  /** `userId` */
  readonly ids?: string
  readonly kind: 'scalar' | 'embedded' | 'toOne' | 'toOneOf' | 'toMany'
  /** `text`, `integer`, `enum`, `object` and so on; for a relation plural names of targets. */
  readonly type: string
  readonly items?: readonly (string | number)[]
  /** Plural name of a relation's single target. */
  readonly target?: string
  readonly otherSide?: string
  readonly nullable: boolean
  readonly required: boolean
  readonly readOnly: boolean
  readonly unique: boolean
  readonly filterable: boolean
  readonly sortable: boolean
  readonly flag?: string
  readonly attributes?: readonly OutlinedAttribute[]
}

export interface OutlinedDeletion {
  /** Plural name. */
  readonly resource: string
  /** The attribute with the deleted record, for a filter. */
  readonly by?: string
  /** The attribute, if no filter finds the affected records. */
  readonly attribute?: string
  /** `delete`: deleted too. `unlink`: kept without the link. `refuse`: prevents the deletion. */
  readonly rule: 'delete' | 'unlink' | 'refuse'
}
export interface OutlinedResource {
  /** In the plural, as in paths and answers. */
  readonly name: string
  readonly singular: string
  readonly key: readonly string[]
  /** A record without a list. */
  readonly single?: true
  /** Bodies may bring new attributes. */
  readonly open?: true
  readonly version?: string
  /** `name`, `title`, `label`, `email`, else the first required text. */
  readonly label?: string
  readonly creates: boolean
  readonly updates: boolean
  readonly deletes: boolean
  readonly attributes: readonly OutlinedAttribute[]
  /** Only in bodies, such as a password. */
  readonly writeOnly?: readonly OutlinedAttribute[]
  readonly whenDeleted?: readonly OutlinedDeletion[]
}
export interface Outline {
  /** Such as `the sample model`. */
  readonly title: string
  /** Such as `SQLite in memory`. */
  readonly database: string
  /** Saved nowhere: readers may reset the data freely. */
  readonly inMemory: boolean
  readonly base: string
  /** Such as `/api/v1`. */
  readonly root: string
  readonly version: string
  readonly versions: readonly string[]
  readonly readOnly: boolean
  /** The resource of users. Null: no log-in, or the version does not serve users. */
  readonly users: string | null
  readonly hasLogIn: boolean
  /** Clients speak another grammar than the console. */
  readonly hasWire?: true
  /** The application's names. */
  readonly parameters: Readonly<Partial<Record<Reserved, string>>>
  readonly resources: readonly OutlinedResource[]
  /** Why the changed model is not served; the outline shows the former model. */
  readonly refused?: string
  readonly docs: boolean
  /** Address of a list of several engines. */
  readonly home?: string
}

export type OutlineOfEngine = Omit<Outline, 'docs' | 'home'>
