/**
 * The SQL function `mikro_contains(stored, form, given)`: tells whether lists or JSON are as `form` says, like `@>`, `<@` and `&&` of
 * PostgreSQL. flavour.ts writes the form: `list contains`, `list overlap`, `json contained`.
 */
import { Platform } from '@mikro-orm/core'
import type { Containment } from '../../../records/plan/read-plan.ts'

type StoredAs = 'list' | 'json'

/** Comparisons between two checks of the clock. */
const CHECK_EVERY = 100_000

/** @param checkClock may throw */
export function containsFunction(checkClock: () => void): (stored: unknown, form: unknown, given: unknown) => number | null {
  let last: { readonly text: string; readonly value: unknown } | undefined
  let work = 0
  const step = (): void => {
    if (++work % CHECK_EVERY === 0) checkClock()
  }
  return (stored, form, given) => {
    if (typeof stored !== 'string' || typeof given !== 'string') return null
    if (last?.text !== given) last = { text: given, value: JSON.parse(given) as unknown }
    const [as, how] = (form as string).split(' ') as [StoredAs, Containment]
    const held = as === 'list' ? splitList(stored) : parse(stored)
    if (held === undefined) return null
    return compare(how, held, last.value, as === 'list' ? sameText : contains, step) ? 1 : 0
  }
}

/** A file may hold any text. */
function parse(stored: string): unknown {
  try {
    return JSON.parse(stored)
  } catch {
    return undefined
  }
}

type Holds = (whole: unknown, part: unknown, step: () => void, isInner?: boolean) => boolean

function compare(how: Containment, own: unknown, given: unknown, holds: Holds, step: () => void): boolean {
  if (how === 'contains' && holds === contains) return contains(own, given, step)
  if (how === 'contained' && holds === contains) return contains(given, own, step)
  const [whole, part] = (how === 'contained' ? [given, own] : [own, given]) as readonly (readonly unknown[])[]
  const isIn = (item: unknown): boolean => whole!.some(each => holds(each, item, step))
  return how === 'overlap' ? part!.some(isIn) : part!.every(isIn)
}

function sameText(one: unknown, other: unknown, step: () => void): boolean {
  step()
  return one !== null && other !== null && textOf(one) === textOf(other)
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Like `@>` of jsonb: a list may contain a bare value, at the top alone. */
function contains(whole: unknown, part: unknown, step: () => void, isInner = false): boolean {
  step()
  if (Array.isArray(whole)) {
    if (!Array.isArray(part)) return !isInner && !isObject(part) && whole.includes(part)
    return part.every(item => whole.some(each => contains(each, item, step, true)))
  }
  if (!isObject(whole)) return whole === part
  if (!isObject(part)) return false
  return Object.entries(part).every(([name, value]) => Object.hasOwn(whole, name) && contains(whole[name], value, step, true))
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Splits a list as MikroORM stores it, such as `c,"a,b"`; undefined for broken quotes. */
export function splitList(stored: string): readonly string[] | undefined {
  if (stored === '') return []
  if (!stored.includes('"')) return stored.split(',')
  try {
    return Platform.prototype.unmarshallArray(stored)
  } catch {
    return undefined
  }
}
