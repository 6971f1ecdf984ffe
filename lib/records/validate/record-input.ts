/** Record input: a valid body in terms of the model, made by validate-record.ts, and carried out by apply.ts and planned-writer.ts. */
import type { KeyValues } from '../../model/key.ts'
import type { EmbeddedAttribute, Resource, ScalarAttribute, ToManyAttribute, ToOneAttribute } from '../../model/model.ts'

/** The new value of an attribute, typed as in scalar-type.ts; null: SQL NULL. */
export type ValueInput =
  | { readonly attribute: ScalarAttribute; readonly path: string; readonly value: unknown }
  | { readonly attribute: EmbeddedAttribute; readonly path: string; readonly value: EmbeddedValue }

/** Changes of an embedded object; a list of objects is replaced as a whole. */
export type EmbeddedValue = readonly ValueInput[] | EmbeddedList | null

export interface EmbeddedList {
  readonly members: readonly (readonly ValueInput[])[]
}

/** A linked record: stored, or to be created. */
export type RecordRef =
  | {
      readonly kind: 'existing'
      readonly key: KeyValues
      readonly path: string
      readonly given: unknown
      /** Names a record of the same body, with a key not known yet (references.ts). */
      readonly name?: string
      /** The record was just found, regardless of the caller's rights. */
      readonly isThere?: true
      /** The new record links itself (own-links.ts). */
      readonly isItself?: true
    }
  | { readonly kind: 'new'; readonly record: RecordInput }

export type ExistingRef = RecordRef & { readonly kind: 'existing' }

export interface LinkInput {
  readonly attribute: ToOneAttribute
  /** Embedded objects around the link, from the outside; undefined: none. */
  readonly within?: readonly EmbeddedAttribute[]
  readonly path: string
  /** null unlinks. */
  readonly link: RecordRef | null
}

export interface ListInput {
  readonly attribute: ToManyAttribute
  readonly path: string
  readonly items: readonly RecordRef[]
  /** Members to unlink, while `items` join the present members. Undefined: `items` replace all members. */
  readonly removed?: readonly ExistingRef[]
}

/** New values of a record, to be created or changed. */
export interface RecordInput {
  readonly resource: Resource
  /** Dotted path in the body; empty for the body itself. */
  readonly path: string
  readonly values: readonly ValueInput[]
  readonly links: readonly LinkInput[]
  readonly lists: readonly ListInput[]
}

/** Whether a new record is a single row with links to stored records only. */
export function isOneRow({ links, lists }: RecordInput): boolean {
  return lists.length === 0 && links.every(({ attribute, link }) => attribute.owner && link?.kind !== 'new')
}

/** Adds the link set by the place of a new record. */
export function withLink(change: RecordInput, attribute: ToOneAttribute, key: KeyValues): RecordInput {
  const link: LinkInput = { attribute, path: '', link: { kind: 'existing', key, path: '', given: undefined } }
  return { ...change, links: [...change.links, link] }
}
