/** The types of a valid body in terms of the model, from validate-record.ts. */
import type { KeyValues } from '../../model/key.ts'
import type { EmbeddedAttribute, Resource, ScalarAttribute, ToManyAttribute, ToOneAttribute } from '../../model/model.ts'

/** Typed as in scalar-type.ts; null: SQL NULL. */
export type ValueInput =
  | { readonly attribute: ScalarAttribute; readonly path: string; readonly value: unknown }
  | { readonly attribute: EmbeddedAttribute; readonly path: string; readonly value: EmbeddedValue }

/** A list of objects is replaced as a whole. */
export type EmbeddedValue = readonly ValueInput[] | { readonly members: readonly (readonly ValueInput[])[] } | null

export type RecordRef =
  | {
      readonly kind: 'existing'
      readonly key: KeyValues
      readonly path: string
      readonly given: unknown
      /** Names a record of the same body, before the key is known (references.ts). */
      readonly name?: string
      /** The record was just found, visible for the caller or not. */
      readonly isThere?: true
      /** A link of a new record to itself, before the key is known (own-links.ts). */
      readonly isItself?: true
    }
  | { readonly kind: 'new'; readonly record: RecordInput }

export type ExistingRef = RecordRef & { readonly kind: 'existing' }

export interface LinkInput {
  readonly attribute: ToOneAttribute
  /** Embedded objects around the link, from the outside. */
  readonly within?: readonly EmbeddedAttribute[]
  readonly path: string
  /** null unlinks. */
  readonly link: RecordRef | null
}

export interface ListInput {
  readonly attribute: ToManyAttribute
  readonly path: string
  readonly items: readonly RecordRef[]
  /** Members to unlink, while `items` join. Undefined: `items` replace all. */
  readonly removed?: readonly ExistingRef[]
}

export interface RecordInput {
  readonly resource: Resource
  /** Dotted; empty for the body itself. */
  readonly path: string
  readonly values: readonly ValueInput[]
  readonly links: readonly LinkInput[]
  readonly lists: readonly ListInput[]
}

export function withLink(change: RecordInput, attribute: ToOneAttribute, key: KeyValues): RecordInput {
  const link: LinkInput = { attribute, path: '', link: { kind: 'existing', key, path: '', given: undefined } }
  return { ...change, links: [...change.links, link] }
}
