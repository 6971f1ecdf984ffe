/** The keys beside records in answers about resources, and in refusals. No resource may have such a name. */

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

export type Envelope = { readonly [key in EnvelopeKey]?: unknown }

export const ENVELOPE_KEYS: ReadonlySet<string> = new Set(KEYS)
