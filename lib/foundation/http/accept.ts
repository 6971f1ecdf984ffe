/**
 * Weighs JSON, CSV and other formats by the header `Accept` (RFC 9110 section 12.5.1). Ignores malformed elements: a preference is no
 * reason to refuse a request.
 */

export interface MediaType {
  /** `text/csv` */
  readonly name: string
  readonly parameters?: Readonly<Record<string, string>>
}

interface MediaRange {
  /** In lower case: a media type, `text/*`, or `*` + `/*`. */
  readonly name: string
  readonly parameters: readonly (readonly [name: string, value: string])[]
  readonly weight: number
}

interface Preference {
  /** From 0 (not acceptable) to 1. */
  readonly weight: number
  /** Whether a name decides, not `text/*`. */
  readonly isNamed: boolean
}

const TOKEN = "[\\w!#$%&'*+.^`|~-]+"
const RANGE = new RegExp(`^${TOKEN}/${TOKEN}$`)
const PARAMETER = new RegExp(`^(${TOKEN})\\s*=\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|(${TOKEN}))$`)
const WEIGHT = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/
const NONE: Preference = Object.freeze({ weight: 0, isNamed: false })

export const JSON_MEDIA: MediaType = { name: 'application/json', parameters: { charset: 'utf-8' } }

/** Spares most requests the parsing. */
export function asksForJson(header: string | undefined): boolean {
  return header === undefined || header === '*/*' || header === 'application/json'
}

export class Accept {
  readonly #ranges: readonly MediaRange[]

  /** @param header repeated headers are joined by commas */
  constructor(header: string) {
    this.#ranges = split(header, ',').flatMap(element => parseRange(element) ?? [])
  }

  preferenceFor(type: MediaType): Preference {
    let found = NONE
    let best = -1
    for (const range of this.#ranges) {
      const specificity = measure(range, type)
      if (specificity <= best) continue
      best = specificity
      found = { weight: range.weight, isNamed: specificity >= SAME_TYPE }
    }
    return found
  }
}

const SAME_TYPE = 2

/** 0 for any type, 1 for `text/*`, 2 for the type, and 1 for each parameter; -1 for another type. */
function measure({ name, parameters }: MediaRange, type: MediaType): number {
  if (name !== type.name) {
    if (name === '*/*') return 0
    return name.endsWith('/*') && type.name.startsWith(name.slice(0, -1)) ? 1 : -1
  }
  const isMet = parameters.every(([parameter, value]) => type.parameters?.[parameter] === value.toLowerCase())
  return isMet ? SAME_TYPE + parameters.length : -1
}

function parseRange(element: string): MediaRange[] | undefined {
  const [name = '', ...rest] = split(element, ';')
  if (!RANGE.test(name)) return undefined
  const parameters: (readonly [string, string])[] = []
  for (const text of rest) {
    if (text === '') continue
    const match = PARAMETER.exec(text)
    if (match === null) return undefined
    const [, key = '', quoted, token] = match
    const value = quoted === undefined ? token! : quoted.replaceAll(/\\(.)/g, '$1')
    if (key.toLowerCase() !== 'q') {
      parameters.push([key.toLowerCase(), value])
      continue
    }
    // Extensions after the weight are obsolete (RFC 9110).
    return WEIGHT.test(value) ? [{ name: name.toLowerCase(), parameters, weight: Number(value) }] : undefined
  }
  return [{ name: name.toLowerCase(), parameters, weight: 1 }]
}

/** Splits outside of quotes; trims. */
function split(text: string, separator: ',' | ';'): string[] {
  const pieces: string[] = []
  let start = 0
  let isQuoted = false
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (isQuoted && character === '\\') at++
    else if (character === '"') isQuoted = !isQuoted
    else if (!isQuoted && character === separator) {
      pieces.push(text.slice(start, at).trim())
      start = at + 1
    }
  }
  pieces.push(text.slice(start).trim())
  return pieces
}
