/**
 * Record input: a valid body in terms of the model. Plain data: validate-record.ts makes it, apply.ts and planned-writer.ts carry it out.
 */
import type { KeyValues } from '../../model/key.ts'
import type { EmbeddedAttribute, Resource, ScalarAttribute, ToManyAttribute, ToOneAttribute } from '../../model/model.ts'

/**
 * A plain attribute with its new value, typed as scalar-type.ts says; null is SQL NULL. An embedded object has the changes of its own
 * attributes.
 */
export type ValueInput =
  | { readonly attribute: ScalarAttribute; readonly path: string; readonly value: unknown }
  | { readonly attribute: EmbeddedAttribute; readonly path: string; readonly value: EmbeddedValue }

/** The changes of an embedded object's attributes; for a list of such objects, all of them anew. */
export type EmbeddedValue = readonly ValueInput[] | EmbeddedList | null

/** The objects of an embedded list, which replace those before. */
export interface EmbeddedList {
  readonly members: readonly (readonly ValueInput[])[]
}

/** A record that a body refers to: an existing one by its key, or one to be created. */
export type RecordRef =
  | {
      readonly kind: 'existing'
      readonly key: KeyValues
      readonly path: string
      readonly given: unknown
      /** Names a record that comes with the one that links it, whose key is not known yet (references.ts). */
      readonly name?: string
      /** Whether the record has just been found, whoever asks. */
      readonly isThere?: true
      /** Whether it is the new record that has the link (own-links.ts). */
      readonly isItself?: true
    }
  | { readonly kind: 'new'; readonly record: RecordInput }

export type ExistingRef = RecordRef & { readonly kind: 'existing' }

export interface LinkInput {
  readonly attribute: ToOneAttribute
  /** The embedded objects of the record that the link is in, from the outside; undefined: none. */
  readonly within?: readonly EmbeddedAttribute[]
  readonly path: string
  /** null unlinks. */
  readonly link: RecordRef | null
}

export interface ListInput {
  readonly attribute: ToManyAttribute
  readonly path: string
  readonly items: readonly RecordRef[]
  /**
   * Where only some members change: those that are unlinked, while the items are linked beside what is there. Undefined: the items are all.
   */
  readonly removed?: readonly ExistingRef[]
}

/** The new values of one record, to be created or changed. */
export interface RecordInput {
  readonly resource: Resource
  /** Dotted path of the record in the body, empty for the body itself. */
  readonly path: string
  readonly values: readonly ValueInput[]
  readonly links: readonly LinkInput[]
  readonly lists: readonly ListInput[]
}

/** Whether a new record is a row that links none but records that are there. */
export function isOneRow({ links, lists }: RecordInput): boolean {
  return lists.length === 0 && links.every(({ attribute, link }) => attribute.owner && link?.kind !== 'new')
}

/** Returns the change of a new record with the link that its place gives it. */
export function withLink(change: RecordInput, attribute: ToOneAttribute, key: KeyValues): RecordInput {
  const link: LinkInput = { attribute, path: '', link: { kind: 'existing', key, path: '', given: undefined } }
  return { ...change, links: [...change.links, link] }
}
