/** Field faults: the errors of a refused body, each by the attribute that it is about. */
import type { OutlinedResource } from '../../description/outline/outline.ts'

export interface FieldFaults {
  /** Sentences by the name of the attribute. */
  readonly byName: ReadonlyMap<string, string>
  /** What is about none of the attributes. */
  readonly others: readonly string[]
}

interface SentFault {
  readonly attribute?: unknown
  readonly detail?: unknown
}

/**
 * @param body the body of the answer
 * @param at the place of the record in the body that was sent: 3 for the fourth of an array
 */
export function readFaults(body: unknown, { attributes }: OutlinedResource, at?: number): FieldFaults {
  const byName = new Map<string, string>()
  const others: string[] = []
  for (const { attribute, detail } of faultsOf(body)) {
    const path = typeof attribute === 'string' ? attribute.split('.') : []
    if (at !== undefined && path.shift() !== String(at)) continue
    const text = typeof detail === 'string' ? detail : 'This value is refused.'
    const found = attributes.find(({ name, ids }) => name === path[0] || ids === path[0])
    if (found === undefined) others.push(text)
    else byName.set(found.name, byName.has(found.name) ? `${byName.get(found.name)} ${text}` : text)
  }
  return { byName, others }
}

/** The places in an array of records that have faults. */
export function faultyPlaces(body: unknown): number[] {
  const places = faultsOf(body).flatMap(({ attribute }) => {
    const [, place] = typeof attribute === 'string' ? (/^(\d+)(?:\.|$)/.exec(attribute) ?? []) : []
    return place === undefined ? [] : [Number(place)]
  })
  return [...new Set(places)].toSorted((one, other) => one - other)
}

function faultsOf(body: unknown): readonly SentFault[] {
  const errors = typeof body === 'object' && body !== null ? (body as { readonly errors?: unknown }).errors : undefined
  return Array.isArray(errors) ? (errors as SentFault[]) : []
}
