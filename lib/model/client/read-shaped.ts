/** Reads answers of an API with the option `envelope`: `{ data: [...] }` becomes the engine's `{ users: [...] }`. Wraps bodies likewise. */
import type { EnvelopeTemplates } from '../../foundation/http/envelope-template.ts'
import { HOLES, readTemplate, toTree, type Parts, type Tree } from '../../foundation/http/template-tree.ts'
import { checkNames } from '../../foundation/base/suggest.ts'

export type Asked = 'list' | 'record' | 'removed' | 'removedList' | 'attribute'

interface ShapedAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

type Templates = { readonly [kind in keyof EnvelopeTemplates]?: Tree | 'bare' }

/** The client does not know the name. */
const NAME = 'records'

/** Undefined: no template matches. */
export type ReadShaped = (answer: ShapedAnswer, asked: Asked) => Readonly<Record<string, unknown>> | undefined

export function createReader(envelope: EnvelopeTemplates): ReadShaped {
  const { error: _, ...given } = envelope as EnvelopeTemplates & { readonly error?: unknown }
  checkNames(given, ['list', 'record', 'removed'], 'client: envelope')
  const templates: Templates = Object.fromEntries(
    Object.entries(given).map(([kind, template]) => [kind, typeof template === 'object' ? toTree(template) : template]),
  )
  return (answer, asked) => readBy(templates, answer, asked)
}

/** Undefined: no wrapper, or a wrapper with the resource name, unknown to the client. */
export function createWrapper({ record }: EnvelopeTemplates): ((record: unknown) => unknown) | undefined {
  const path = typeof record === 'object' ? findRecord(toTree(record)) : undefined
  if (path === undefined || path.some(key => key.match(HOLES) !== null)) return undefined
  return body => (isObject(body) ? path.reduceRight<unknown>((inside, key) => ({ [key]: inside }), body) : body)
}

function findRecord(tree: Tree): readonly string[] | undefined {
  for (const [key, part] of tree) {
    if (part === 'record') return [key]
    const inside = typeof part === 'string' ? undefined : findRecord(part)
    if (inside !== undefined) return [key, ...inside]
  }
  return undefined
}

function isObject(body: unknown): boolean {
  return typeof body === 'object' && body !== null && !Array.isArray(body)
}

function readBy(
  templates: Templates,
  { status, headers, body }: ShapedAnswer,
  asked: Asked,
): Readonly<Record<string, unknown>> | undefined {
  const isRemoval = asked === 'removed' || asked === 'removedList'
  if (isRemoval && status === 204) return carry({ record: undefined, records: [], count: undefined }, asked === 'removedList')
  if (asked === 'attribute' && isValue(body)) return body
  const isList = asked === 'list' || asked === 'removedList'
  const template = (isRemoval ? templates.removed : undefined) ?? (isList ? templates.list : templates.record)
  if (template === 'bare') return carry(isList ? { records: body, ...readHeaders(headers) } : { record: body }, isList)
  const parts = template === undefined ? undefined : readTemplate(template, body)
  if (parts === undefined) return undefined
  // A deletion may answer with a list.
  const one = parts.record === undefined && Array.isArray(parts.records) ? { ...parts, record: (parts.records as unknown[])[0] } : parts
  return carry(one, isList)
}

function carry(parts: Parts, isList: boolean): Readonly<Record<string, unknown>> {
  const { records, record, ...others } = parts
  return { ...others, success: true, resource: NAME, [NAME]: isList ? records : record }
}

function isValue(body: unknown): body is Readonly<Record<string, unknown>> {
  return typeof body === 'object' && body !== null && 'success' in body && 'attribute' in body && 'value' in body
}

/** A bare list has count and pages in headers. */
function readHeaders({ 'x-total-count': count, link = '' }: Readonly<Record<string, string>>): Parts {
  const find = (rel: string): string | null => new RegExp(`<([^>]*)>\\s*;\\s*rel="${rel}"`).exec(link)?.[1] ?? null
  return { ...(count === undefined ? {} : { count: Number(count) }), previous: find('prev'), next: find('next') }
}
