/** What specs take of `node:assert/strict`, in a page. Equality is that of `runtime.spec.ts`, which compares it with Node's. */
import { isSameValue } from '../../../lib/foundation/page/same-value.ts'

export class AssertionError extends Error {
  override readonly name = 'AssertionError'
  readonly code = 'ERR_ASSERTION'

  constructor({ message }: { readonly message: string }) {
    super(message)
  }

  /** The engine has a class of its own. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return (value as Partial<Error> | null)?.name === 'AssertionError'
  }
}

type Message = string | Error | undefined
type Expected = RegExp | object | ((error: unknown) => unknown) | undefined

function fail(message: Message = 'Failed'): never {
  if (message instanceof Error) throw message
  throw new AssertionError({ message })
}

function show(value: unknown): string {
  const text =
    typeof value === 'string' ? value : JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? `${each}n` : each))
  return (text ?? String(value)).slice(0, 500)
}

function check(holds: boolean, message: Message, facts: () => string): void {
  if (!holds) fail(message instanceof Error ? message : [message, facts()].filter(Boolean).join(': '))
}

function checkError(error: unknown, expected: Expected): void {
  if (expected === undefined) return
  if (expected instanceof RegExp) return check(expected.test(String(error)), undefined, () => `${String(error)} is not like ${expected}`)
  if (typeof expected === 'function') {
    const isClass = (expected.prototype as unknown) !== undefined
    if (isClass)
      return check(error instanceof (expected as unknown as new () => object), undefined, () => `${String(error)} is of another class`)
    return check(expected(error) === true, undefined, () => `${String(error)} is not as expected`)
  }
  for (const [name, value] of Object.entries(expected) as [string, unknown][]) {
    const actual: unknown = (error as Record<string, unknown>)[name]
    const holds = value instanceof RegExp && typeof actual === 'string' ? value.test(actual) : isSameValue(actual, value)
    check(holds, undefined, () => `${name} of the error: ${show(actual)}, expected ${String(value)}`)
  }
}

const assert = {
  AssertionError,
  fail,
  ok: (value: unknown, message?: Message): void => check(Boolean(value), message, () => `${show(value)} is not true`),
  equal: (a: unknown, b: unknown, message?: Message): void => check(Object.is(a, b), message, () => `${show(a)}, expected ${show(b)}`),
  notEqual: (a: unknown, b: unknown, message?: Message): void => check(!Object.is(a, b), message, () => `${show(a)} is not to be`),
  deepEqual: (a: unknown, b: unknown, message?: Message): void =>
    check(isSameValue(a, b), message, () => `${show(a)}\nexpected ${show(b)}`),
  notDeepEqual: (a: unknown, b: unknown, message?: Message): void => check(!isSameValue(a, b), message, () => `${show(a)} is not to be`),
  match: (text: string, like: RegExp, message?: Message): void =>
    check(like.test(text), message, () => `${show(text)} is not like ${like}`),
  doesNotMatch: (text: string, like: RegExp, message?: Message): void =>
    check(!like.test(text), message, () => `${show(text)} is like ${like}`),
  throws(work: () => unknown, expected?: Expected): void {
    try {
      work()
    } catch (error) {
      return checkError(error, expected)
    }
    fail('nothing was thrown')
  },
  async rejects(work: Promise<unknown> | (() => Promise<unknown>), expected?: Expected): Promise<void> {
    try {
      await (typeof work === 'function' ? work() : work)
    } catch (error) {
      return checkError(error, expected)
    }
    fail('nothing was rejected')
  },
}

const { ok, equal, notEqual, deepEqual, notDeepEqual, match, doesNotMatch, throws, rejects } = assert
export { ok, equal, notEqual, deepEqual, notDeepEqual, match, doesNotMatch, throws, rejects, fail }
export default Object.assign((value: unknown, message?: Message): void => assert.ok(value, message), assert)
