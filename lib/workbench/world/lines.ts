/** Lines: the code that does the same as a button, where `engine` is an engine. */
import { inlineCode, quote } from '../state/code.ts'

export const LINES = {
  advance: (duration: string): string => `engine.clock.advance(${quote(duration)})`,
  set: (time: string): string => `engine.clock.set(${quote(time)})`,
  realTime: (): string => 'engine.clock.reset()',
  snapshot: (name: string): string => `const ${nameOf(name)} = await engine.snapshot()`,
  restore: (name: string): string => `await engine.restore(${nameOf(name)})`,
  difference: (name: string): string => `await engine.difference(${nameOf(name)})`,
  reset: (): string => 'await engine.reset()',
  scenario: (name: string): string => `await engine.scenario(${quote(name)})`,
  fork: (name: string): string => `const ${nameOf(name)} = await engine.fork()`,
  close: (name: string): string => `await ${nameOf(name)}.close()`,
  endFault: (id: string): string => `${nameOf(id)}.dispose()`,
  release: (id: string): string => `${nameOf(id)}.release()`,
  failHeld: (id: string, status: number): string => `${nameOf(id)}.fail(${status})`,
  dropHeld: (id: string): string => `${nameOf(id)}.drop()`,
}

/** The kinds of faults, in the order of the form. */
export const FAULT_KINDS = ['fail', 'delay', 'drop', 'hold', 'rateLimit'] as const

export type FaultKind = (typeof FAULT_KINDS)[number]

/** What the form of a fault holds, as it is typed. */
export interface FaultDraft {
  readonly kind: FaultKind
  readonly match: string
  readonly times: string
  readonly status: string
  readonly retryAfter: string
  /** Of `fail` and `drop`: the request is done first. */
  readonly after: boolean
  readonly ms: string
  readonly requests: string
  readonly per: string
}

/** What `POST /_test/faults` takes for a draft. What is not a number is left to the server to refuse. */
export function faultBody(draft: FaultDraft): Record<string, unknown> {
  const { kind, match, after } = draft
  const times = draft.times === '' ? {} : { times: numberOf(draft.times) }
  switch (kind) {
    case 'fail': {
      const headers = draft.retryAfter === '' ? {} : { headers: { 'retry-after': draft.retryAfter } }
      return { kind, match, status: numberOf(draft.status), ...headers, ...times, ...(after ? { after } : {}) }
    }
    case 'delay':
      return { kind, match, ms: numberOf(draft.ms), ...times }
    case 'drop':
      return { kind, match, ...times, ...(after ? { after } : {}) }
    case 'hold':
      return { kind, match, ...times }
    case 'rateLimit':
      return { kind, match, requests: numberOf(draft.requests), per: draft.per }
  }
}

/** The line that makes a fault. */
export function faultLine(draft: FaultDraft): string {
  const { kind, match, ms, ...options } = faultBody(draft)
  const args = [
    inlineCode(match),
    ...(ms === undefined ? [] : [inlineCode(ms)]),
    ...(Object.keys(options).length === 0 ? [] : [inlineCode(options)]),
  ]
  return `const fault = engine.${kind as string}(${args.join(', ')})`
}

function numberOf(text: string): number | string {
  return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text
}

/** A name of a variable for a name of anything: `worker-0` is `worker0`. */
function nameOf(name: string): string {
  const words = name.replaceAll(/\W+(\w?)/g, (_, next: string) => next.toUpperCase())
  return /^[a-z_$]/i.test(words) ? words : `_${words}`
}
