/**
 * Finds a match of `$re` or `$ire` in a text. Follows all ways through the expression at once, character by character (Thompson): the time
 * is at most the text's length times the expression's size. A set of places keeps the next sets by character: most characters take a
 * look-up.
 */
import { LruCache } from '../base/lru-cache.ts'
import type { CharacterSet } from './character-set.ts'
import { parseExpression } from './parse-expression.ts'
import type { RegularExpression } from './regular-expression.ts'

type ExpressionPlace =
  | { readonly kind: 'character'; readonly set: number; readonly next: number }
  | { readonly kind: 'start' | 'end'; readonly next: number }
  | { readonly kind: 'fork'; readonly next: number[] }
  | { readonly kind: 'match' }

/** Places reached together, and the next sets by kind of character. */
interface Reached {
  readonly places: Uint16Array
  readonly isMatch: boolean
  readonly next: (Reached | undefined)[]
  /** Undefined until a text ends here. */
  isMatchAtEnd: boolean | undefined
}

const NOWHERE = new Uint16Array()

/** Limits the places in an expression's kept sets, and the characters with a known kind. */
const MAX_KEPT = 50_000

/** @param count gets the steps since the last call, and may throw */
export function matchExpression(text: string, expression: string, fold: boolean, count: CountSteps): boolean {
  return findAutomaton(expression, fold).matches(text, count)
}

const automata = new LruCache<Automaton>(32)

function findAutomaton(text: string, fold: boolean): Automaton {
  const key = `${Number(fold)}${text}`
  let automaton = automata.get(key)
  if (automaton === undefined) {
    automaton = new Automaton(
      parseExpression(text, what => new Error(what)),
      fold,
    )
    automata.set(key, automaton)
  }
  return automaton
}

type CountSteps = (steps: number) => void

class Automaton {
  readonly #places: ExpressionPlace[] = [{ kind: 'match' }]
  readonly #sets: RegExp[] = []
  readonly #setOf = new Map<string, number>()
  readonly #fold: boolean
  readonly #first: number
  /** Characters of a kind are in the same sets. */
  readonly #kinds = new Map<string, number>()
  readonly #members: (readonly boolean[])[] = []
  readonly #kindOf = new Map<number, number>()
  /** The last round of `#follow` at each place. */
  readonly #seen: number[] = []
  #round = 0
  readonly #known = new Map<string, Reached>()
  #kept = 0

  constructor(expression: RegularExpression, fold: boolean) {
    this.#fold = fold
    this.#first = this.#add(expression, 0)
  }

  matches(text: string, count: CountSteps): boolean {
    let reached = this.#follow([this.#first], true, text === '', count)
    for (let at = 0; at < text.length;) {
      if (reached.isMatch) return true
      const point = text.codePointAt(at)!
      at += point > 0xffff ? 2 : 1
      const kind = this.#kindOf.get(point) ?? this.#findKind(point, count)
      count(1)
      reached = reached.next[kind] ??= this.#step(reached, kind, count)
    }
    if (text === '' || reached.isMatch) return reached.isMatch
    return (reached.isMatchAtEnd ??= this.#follow([...reached.places], false, true, count).isMatch)
  }

  /** Adds places before `next`; returns the first. */
  #add(expression: RegularExpression, next: number): number {
    switch (expression.kind) {
      case 'character':
        return this.#push({ kind: 'character', set: this.#findSet(expression.set), next })
      case 'start':
      case 'end':
        return this.#push({ kind: expression.kind, next })
      case 'sequence':
        return expression.of.reduceRight((place, part) => this.#add(part, place), next)
      case 'choice':
        return this.#push({ kind: 'fork', next: expression.of.map(part => this.#add(part, next)) })
      case 'repeat':
        return this.#repeat(expression, next)
    }
  }

  /** Copies a part as often as `weigh` counts: with a copy more, `((a+)+)+` would double at each level. */
  #repeat({ of, least, most }: RegularExpression & { kind: 'repeat' }, next: number): number {
    let place = next
    let copies = least
    if (most === Infinity) {
      const ways = [next]
      const fork = this.#push({ kind: 'fork', next: ways })
      const again = this.#add(of, fork)
      ways.push(again)
      place = least === 0 ? fork : again
      copies = Math.max(least - 1, 0)
    } else for (let count = least; count < most; count++) place = this.#push({ kind: 'fork', next: [next, this.#add(of, place)] })
    for (let count = 0; count < copies; count++) place = this.#add(of, place)
    return place
  }

  #push(place: ExpressionPlace): number {
    return this.#places.push(place) - 1
  }

  /** The flags `iu` of RegExp do simple case folding. A RegExp of a single character has nothing to go back to. */
  #findSet({ isNegated, ranges }: CharacterSet): number {
    const hex = (point: number): string => String.raw`\u{${point.toString(16)}}`
    const source = `[${isNegated ? '^' : ''}${ranges.map(([first, last]) => `${hex(first)}-${hex(last)}`).join('')}]`
    let set = this.#setOf.get(source)
    if (set === undefined) {
      set = this.#sets.push(new RegExp(source, this.#fold ? 'iu' : 'u')) - 1
      this.#setOf.set(source, set)
    }
    return set
  }

  #findKind(point: number, count: CountSteps): number {
    const character = String.fromCodePoint(point)
    const members = this.#sets.map(set => set.test(character))
    count(members.length)
    const key = members.map(Number).join('')
    let kind = this.#kinds.get(key)
    if (kind === undefined) {
      kind = this.#members.push(members) - 1
      this.#kinds.set(key, kind)
    }
    if (this.#kindOf.size >= MAX_KEPT) this.#kindOf.clear()
    this.#kindOf.set(point, kind)
    return kind
  }

  #step({ places }: Reached, kind: number, count: CountSteps): Reached {
    const members = this.#members[kind]!
    // The match may begin at every character.
    const next = [this.#first]
    for (const index of places) {
      const place = this.#places[index]!
      if (place.kind === 'character' && members[place.set]!) next.push(place.next)
    }
    count(places.length)
    return this.#follow(next, false, false, count)
  }

  /** Follows all ways without a character. */
  #follow(open: number[], isStart: boolean, isEnd: boolean, count: CountSteps): Reached {
    this.#round++
    const lasting: number[] = []
    let isMatch = false
    for (let at = 0; at < open.length; at++) {
      const index = open[at]!
      if (this.#seen[index] === this.#round) continue
      this.#seen[index] = this.#round
      const place = this.#places[index]!
      if (place.kind === 'fork') open.push(...place.next)
      else if (place.kind === 'match') isMatch = true
      else if (place.kind === 'character') lasting.push(index)
      else if (place.kind === 'end' ? isEnd : isStart) open.push(place.next)
      else if (place.kind === 'end') lasting.push(index)
    }
    count(open.length)
    return this.#keep(isMatch ? NOWHERE : Uint16Array.from(lasting).sort(), isMatch)
  }

  #keep(places: Uint16Array, isMatch: boolean): Reached {
    const key = isMatch ? 'match' : String.fromCharCode(...places)
    let reached = this.#known.get(key)
    if (reached !== undefined) return reached
    this.#kept += places.length + this.#members.length + 1
    if (this.#kept > MAX_KEPT) {
      // The search goes on from the new set alone.
      this.#known.clear()
      this.#kept = places.length
    }
    reached = { places, isMatch, next: [], isMatchAtEnd: isMatch ? true : undefined }
    this.#known.set(key, reached)
    return reached
  }
}
