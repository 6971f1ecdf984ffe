/** The result of `checkAgainst`, as data and as text. */

export const DIFFERENCES = {
  answer: 'the real backend gives no answer, or none that is JSON',
  status: 'another status, or another code of a refusal',
  missing: 'the real backend does not show a member that the fake shows',
  unknown: 'the real backend shows a member that the fake does not have',
  type: 'the real backend shows a value that the fake cannot have: of another type or form, or null',
  filter: 'a record of the real backend does not meet the filter that it was asked for',
  sort: 'the records of the real backend are in another order, or it says another order',
  limit: 'the real backend gives more records than it was asked for',
} as const

/** The way in which two answers differ. */
export type DifferenceKind = keyof typeof DIFFERENCES

/** A place where the answers of two backends differ. */
export interface Difference {
  readonly kind: DifferenceKind
  /** In the plural, as in the fake. Undefined: the request is about no resource. */
  readonly resource: string | undefined
  /** Dotted path of the attribute, or of the member of the answer. */
  readonly attribute: string | undefined
  /** With its operator. */
  readonly parameter: string | undefined
  readonly message: string
  /** As sent to the real backend. */
  readonly request: { readonly method: string; readonly url: string }
  readonly times: number
}

/** The result of `checkAgainst`. */
export interface DriftReport {
  /** Whether both backends have answered alike. */
  readonly passed: boolean
  readonly requests: number
  readonly differences: readonly Difference[]
  /** One sentence for each part that was not compared. */
  readonly skipped: readonly string[]
  toString(): string
}

/** A real backend may show any number of names. */
const MAX_DIFFERENCES = 1000
/** Characters. */
const MAX_LENGTH = 500

/** Control and direction characters could move a terminal's cursor. */
export function printable(text: string): string {
  const cut = text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text
  return cut.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, each => `\\u{${each.codePointAt(0)!.toString(16)}}`)
}

export class Differences {
  readonly #known = new Map<string, { -readonly [key in keyof Difference]: Difference[key] }>()

  add(given: Omit<Difference, 'times'>): void {
    const { attribute, parameter, message, request } = given
    const found = {
      ...given,
      attribute: attribute === undefined ? undefined : printable(attribute),
      parameter: parameter === undefined ? undefined : printable(parameter),
      message: printable(message),
      request: { ...request, url: request.url.replaceAll(/[^\u0021-\u007e]/gu, encodeURIComponentOf) },
    }
    const key = [found.kind, found.resource, found.attribute, found.parameter].join('\n')
    const known = this.#known.get(key)
    if (known !== undefined) known.times++
    else if (this.#known.size < MAX_DIFFERENCES) this.#known.set(key, { ...found, times: 1 })
  }

  /** A resource's only missing and only unknown member may be a renamed member. */
  list(): Difference[] {
    const all = [...this.#known.values()]
    return all
      .map(each => {
        const partner = each.kind === 'missing' ? findPartner(each, all) : undefined
        return partner === undefined ? each : { ...each, message: `${each.message} It may be called "${partner}" there.` }
      })
      .toSorted((a, b) => (a.resource ?? '').localeCompare(b.resource ?? ''))
  }
}

/** A lone surrogate cannot be encoded. */
function encodeURIComponentOf(character: string): string {
  return encodeURIComponent(character.toWellFormed())
}

function findPartner(missing: Difference, all: readonly Difference[]): string | undefined {
  const of = (kind: DifferenceKind): Difference[] => all.filter(each => each.kind === kind && each.resource === missing.resource)
  const unknown = of('unknown')
  return unknown.length === 1 && of('missing').length === 1 ? unknown[0]!.attribute : undefined
}

export function formatDrift({ differences, requests, skipped }: Omit<DriftReport, 'toString'>): string {
  const resources = [...new Set(differences.map(({ resource }) => resource))]
  const blocks = resources.flatMap(resource => [
    resource ?? 'other paths',
    ...differences
      .filter(each => each.resource === resource)
      .flatMap(({ attribute, parameter, message, request, times }) => [
        `  ${[attribute, parameter === undefined ? undefined : `?${parameter}`].filter(Boolean).join(' ') || 'answers'}: ` +
          `${message}${times > 1 ? ` (${times} requests)` : ''}`,
        `    curl ${request.method === 'GET' ? '' : `-X ${request.method} `}'${request.url.replaceAll("'", '%27')}'`,
      ]),
    '',
  ])
  const end = differences.length === 0 ? 'No difference' : `${differences.length} difference${differences.length === 1 ? '' : 's'}`
  return [
    ...blocks,
    ...(skipped.length === 0 ? [] : ['Not compared:', ...skipped.map(line => `- ${line}`), '']),
    `${end} in ${requests} requests.`,
    '',
  ].join('\n')
}
