/** Sorts the errors of a refusal by attribute, or by line of an import. */
import type { OutlinedResource } from '../../description/outline/outline-parts.ts'

interface FieldFaults {
  /** Error texts by attribute name. */
  readonly byName: ReadonlyMap<string, string>
  readonly others: readonly string[]
}

interface SentFault {
  readonly attribute?: unknown
  readonly detail?: unknown
}

export function readFaults(body: unknown, { attributes }: OutlinedResource): FieldFaults {
  const byName = new Map<string, string>()
  const others: string[] = []
  for (const { attribute, detail } of faultsOf(body)) {
    const path = typeof attribute === 'string' ? attribute.split('.') : []
    const text = typeof detail === 'string' ? detail : 'This value is refused.'
    const [own] = path
    const found = own === undefined ? undefined : attributes.find(({ name, ids }) => name === own || ids === own)
    if (found === undefined) others.push(text)
    else byName.set(found.name, byName.has(found.name) ? `${byName.get(found.name)} ${text}` : text)
  }
  return { byName, others }
}

/** @param lines the line number of each record */
export function readLineFaults(body: unknown, lines: readonly number[]): string[] {
  return faultsOf(body).flatMap(({ attribute, detail }) => {
    const [, place] = typeof attribute === 'string' ? (/^(\d+)(?:\.|$)/.exec(attribute) ?? []) : []
    const line = place === undefined ? undefined : lines[Number(place)]
    // The line number replaces the API's index.
    return line === undefined || typeof detail !== 'string' ? [] : [`Line ${line}: ${detail.replace(/^\[\d+\]: /, '')}`]
  })
}

function faultsOf(body: unknown): readonly SentFault[] {
  const errors = typeof body === 'object' && body !== null ? (body as { readonly errors?: unknown }).errors : undefined
  return Array.isArray(errors) ? (errors as SentFault[]) : []
}
