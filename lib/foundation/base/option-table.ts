/** Checks the options of a public call, such as `intercept({ strict: true })`, by a table of names, rules and defaults. */
import { checkNames } from './suggest.ts'

/**
 * Checks a given value.
 *
 * @param place how the error begins: `auth: "ttl"`
 * @param where the call alone: `auth`
 * @throws TypeError, RangeError for a value that breaks the rule
 */
export type OptionRule = (value: unknown, place: string, where: string) => void

export type OptionTable<Options> = { readonly [Name in keyof Options]-?: readonly [rule: OptionRule, byDefault?: Options[Name]] }

type Completed<Options, Table> = Options & {
  readonly [Name in keyof Options & keyof Table as Table[Name] extends readonly [OptionRule, unknown] ? Name : never]: Exclude<
    Options[Name],
    undefined
  >
}

/**
 * @param habits names of other libraries, with the names used here
 * @throws TypeError, RangeError for an unknown name, and for a value that breaks its rule
 * @example readOptions(given, { strict: [flag, false], signal: [anything] }, 'intercept')
 */
export function readOptions<Options extends object, const Table extends OptionTable<Options>>(
  given: Options,
  table: Table,
  where: string,
  habits: Readonly<Record<string, string>> = {},
): Completed<Options, Table> {
  checkNames(given, Object.keys(table), where, habits)
  const read: Record<string, unknown> = {}
  for (const [name, [rule, byDefault]] of Object.entries<readonly [OptionRule, unknown?]>(table)) {
    const value = given[name as keyof Options]
    if (value !== undefined) rule(value, `${where}: "${name}"`, where)
    if (value !== undefined || byDefault !== undefined) read[name] = value === undefined ? byDefault : value
  }
  return read as Completed<Options, Table>
}

/** `withEngine: "recordings" must be the path of a folder, or false.` */
export function must(be: string, isRight: (value: unknown) => boolean, Kind: ErrorConstructor = TypeError): OptionRule {
  return (value, place) => {
    if (!isRight(value)) throw new Kind(`${place} must be ${be}.`)
  }
}

/** `delay: "times" must be an integer above 0, got 0.` */
export function mustRange(be: string, isRight: (value: unknown) => boolean, print = printGiven): OptionRule {
  return (value, place) => {
    if (!isRight(value)) throw new RangeError(`${place} must be ${be}, got ${print(value)}.`)
  }
}

/** A text has quotes, to tell `"5"` from `5`. */
function printGiven(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}

/** For values checked elsewhere. */
export const anything: OptionRule = () => {}
export const flag: OptionRule = (value, place) => {
  if (typeof value !== 'boolean') throw new TypeError(`${place} must be true or false, got ${printGiven(value)}.`)
}
export const callable = must('a function', value => typeof value === 'function')
export const list = must('an array', Array.isArray)
export const object = must('an object', value => typeof value === 'object' && value !== null && !Array.isArray(value))
export const texts = must('an array of strings', value => Array.isArray(value) && value.every(text => typeof text === 'string'))
export const text = must('a string', value => typeof value === 'string')
export const textsByName = must('an object of strings', isTextsByName)
export const filledText = must('a string that is not empty', value => typeof value === 'string' && value !== '')

export const wire: OptionRule = (value, place, where) => {
  object(value, place, where)
  const { answer, refuse, repeatable = false, takes = [] } = value as Readonly<Record<string, unknown>>
  checkNames(value as object, ['answer', 'refuse', 'repeatable', 'takes'], `${where}: wire`)
  for (const [name, given] of Object.entries({ answer, refuse }))
    if (typeof given !== 'function') throw new TypeError(`${place} must be { answer, refuse, takes? }, and has no function "${name}".`)
  if (typeof repeatable !== 'boolean' && typeof repeatable !== 'function')
    throw new TypeError(`${where}: "wire.repeatable" must be a boolean or a function, got ${typeof repeatable}.`)
  if (!Array.isArray(takes) || !takes.every(each => BODIES.includes(each)))
    throw new TypeError(`${where}: "wire.takes" must be an array of ${BODIES.map(each => JSON.stringify(each)).join(', ')}.`)
}
const BODIES: readonly unknown[] = ['form', 'text', 'bytes']

function isTextsByName(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.values(value).every(each => typeof each === 'string')
}

export function oneOf(...allowed: readonly unknown[]): OptionRule {
  return mustRange(`one of ${allowed.map(item => JSON.stringify(item)).join(', ')}`, value => allowed.includes(value), JSON.stringify)
}

export function integer(least: number, most = Number.MAX_SAFE_INTEGER): OptionRule {
  const range = most === Number.MAX_SAFE_INTEGER ? `of ${least} or more` : `from ${least} to ${most}`
  return mustRange(`an integer ${range}`, value => Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most)
}
