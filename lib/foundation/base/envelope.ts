/** Envelope: the keys of the engine's own answers. A resource cannot have one of these names, and none of them is an attribute. */

const KEYS = [
  'success',
  'timestamp',
  'status',
  'code',
  'title',
  'detail',
  'errors',
  'resource',
  'sort',
  'offset',
  'limit',
  'filter',
  'count',
  'previous',
  'next',
  'attribute',
  'value',
] as const

type EnvelopeKey = (typeof KEYS)[number]

/** The members of an answer; the records stand beside them, under the name of the resource. */
export type Envelope = { readonly [key in EnvelopeKey]?: unknown }

export const ENVELOPE_KEYS: ReadonlySet<string> = new Set(KEYS)
