/** Writes the test code of each button, such as `await engine.reset()`, and bodies of faults. */
import { inlineCode, quote } from '../state/code.ts'

export const LINES = {
  advance: (duration: string): string => `engine.clock.advance(${quote(duration)})`,
  setClock: (time: string): string => `engine.clock.set(${quote(time)})`,
  realTime: (): string => 'engine.clock.reset()',
  snapshot: (name: string): string => `const ${nameOf(name)} = await engine.snapshot()`,
  restore: (name: string): string => `await engine.restore(${nameOf(name)})`,
  difference: (name: string): string => `await engine.difference(${nameOf(name)})`,
  reset: (): string => 'await engine.reset()',
  scenario: (name: string): string => `await engine.scenario(${quote(name)})`,
  fork: (name: string): string => `const ${nameOf(name)} = await engine.fork()`,
  close: (name: string): string => `await ${nameOf(name)}.close()`,
  // `fault` is the variable of `faultLine`.
  endFault: (): string => 'fault.dispose()',
  release: (): string => 'fault.release()',
  failHeld: (status: number): string => `fault.fail(${status})`,
  dropHeld: (): string => 'fault.drop()',
}

export const FAULT_KINDS = ['fail', 'delay', 'drop', 'hold', 'rateLimit'] as const

export type FaultKind = (typeof FAULT_KINDS)[number]

export interface FaultDraft {
  readonly kind: FaultKind
  readonly match: string
  readonly times: string
  readonly status: string
  readonly retryAfter: string
  /** After the request is done: `fail` replaces the answer, `drop` loses the answer. */
  readonly after: boolean
  readonly ms: string
  readonly requests: string
  readonly per: string
}

/** An invalid number goes to the server as a text. */
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

/** `worker-0` becomes `worker0`. */
function nameOf(name: string): string {
  const words = name.replaceAll(/\W+(\w?)/g, (_, next: string) => next.toUpperCase())
  return /^[a-z_$]/i.test(words) ? words : `_${words}`
}
