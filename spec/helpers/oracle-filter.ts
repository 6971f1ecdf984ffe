/**
 * The oracle's filters: whether one row is in the result of one parameter, by contract section 4 ("Filters").
 */
import {
  endOf,
  idOf,
  reach,
  Refused,
  SOMETHING,
  type Ending,
  type PlainAttribute,
  type RelationAttribute,
  type Resource,
  type Row,
} from './oracle-model.ts'
import { comparePlain, parsePlain } from './oracle-values.ts'

const OPERATORS = ['!=', '~~=', '~=', '>=', '<=', '>', '<'] as const
type Operator = (typeof OPERATORS)[number] | '='

/** An unescaped `*`. */
const STAR = Symbol('star')

/** One of the comma-separated values: the bare word `null`, or its characters. */
type Item = { readonly null: true } | { readonly null: false; readonly characters: readonly (string | typeof STAR)[] }

/**
 * Does `row` match the parameter `name` (with its `!` and its operator, as a key of an object query) with `value`?
 * Throws `Refused` where the contract says 400.
 */
export function matches(row: Row, name: string, value: string, of: Resource = row.of): boolean {
  const { negated, paths, operator } = parseName(name)
  const items = parseItems(value)
  // "`name|email=*x*`: any of the paths matches." A list "holds when any related record does".
  const results = paths.map(path => {
    const test = testOf(endOf(of, path), operator, items)
    return reach(of, row, path).some(test)
  })
  // "`!` (before) or `!=` (`name!=Ann`) is the exact complement: every record is in exactly one of `f` and `!f`, NULLs and empty lists
  // included."
  return results.includes(true) !== negated
}

/** "`[!]path[|path...][op]=value`"; "`!` (before) or `!=` [...] Twice cancels out." */
export function parseName(name: string): { negated: boolean; paths: string[][]; operator: Operator } {
  const before = name.startsWith('!')
  const bare = before ? name.slice(1) : name
  const found = OPERATORS.find(operator => bare.endsWith(operator))
  const paths = (found ? bare.slice(0, -found.length) : bare).split('|').map(path => path.split('.'))
  if (found === '!=') return { negated: !before, paths, operator: '=' }
  return { negated: before, paths, operator: found ?? '=' }
}

/**
 * "`a,b` any of"; "`null` is SQL NULL (also inside lists). A backslash makes the next character literal: `\,` `\*` `\\` and `\null` for the
 * word; alone at the end: 400."
 */
export function parseItems(value: string): Item[] {
  const items: { bare: boolean; characters: (string | typeof STAR)[] }[] = [{ bare: true, characters: [] }]
  const input = Array.from(value)
  for (let i = 0; i < input.length; i++) {
    const item = items.at(-1)
    const char = input[i]
    if (!item || char === undefined) continue
    if (char === '\\') {
      const next = input[++i]
      if (next === undefined) throw new Refused('a backslash alone at the end')
      item.bare = false
      item.characters.push(next)
    } else if (char === ',') items.push({ bare: true, characters: [] })
    else item.characters.push(char === '*' ? STAR : char)
  }
  return items.map(({ bare, characters }) => {
    const isNull = bare && !characters.includes(STAR) && characters.join('') === 'null'
    return isNull ? { null: true } : { null: false, characters }
  })
}

const MARKS = /[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]/g

/** Texts between stars as wholes: marks are ordered within them. */
function joinTexts(characters: readonly (string | typeof STAR)[]): (string | typeof STAR)[] {
  const parts: (string | typeof STAR)[] = []
  for (const char of characters) {
    const last = parts.at(-1)
    if (char !== STAR && last !== undefined && last !== STAR) parts[parts.length - 1] = last + char
    else parts.push(char)
  }
  return parts
}

/** The text of an item where wildcards have no place. */
function plainText(item: Item): string {
  if (item.null || item.characters.includes(STAR)) throw new Refused('a wildcard or null where a plain value is due')
  return item.characters.join('')
}

/** The test for one ending. It is made before any row is looked at, so that what is refused does not depend on the data. */
function testOf(end: PlainAttribute | RelationAttribute, operator: Operator, items: readonly Item[]): (ending: Ending) => boolean {
  if (operator === '=' || operator === '!=') {
    const tests = items.map(item => (end.kind === 'plain' ? equalsPlain(end, item) : equalsRelated(end.target(), item)))
    return ending => tests.some(test => test(ending))
  }
  if (operator === '~=' || operator === '~~=') {
    // "`name~=*ann*`: the same match without regard to case (Unicode); text only."
    if (end.kind !== 'plain' || end.type !== 'text') throw new Refused('~= is for text only')
    // "`~~=`: as `~=` and also without accents: Unicode NFD without combining marks, then case as `~=`."
    const tests = items.map(item => equalsText(item, true, operator === '~~='))
    return ending => tests.some(test => test(ending))
  }
  // "`age>=18`, `age<=65`, `age>18`, `age<65` read as written: one value, no list, wildcard or `null` (400); NULL never matches."
  const [item, ...more] = items
  if (!item || more.length > 0) throw new Refused('one value, no list')
  if (end.kind !== 'plain') throw new Refused('a relation has no order')
  const bound = parsePlain(end, plainText(item))
  return ending => {
    if (ending.kind !== 'plain' || ending.value === null) return false
    if (end.type === 'inside' && (ending.value === SOMETHING || typeof ending.value !== typeof bound)) return false
    const order = comparePlain(end, ending.value, bound)
    if (operator === '>=') return order >= 0
    if (operator === '<=') return order <= 0
    return operator === '>' ? order > 0 : order < 0
  }
}

const isNull = (ending: Ending): boolean => ending.kind === 'plain' && ending.value === null

function equalsPlain(attribute: PlainAttribute, item: Item): (ending: Ending) => boolean {
  if (item.null) return isNull
  if (attribute.type === 'text') return equalsText(item, false)
  // "A text there equals the text, a number the number that the text is, `true` and `false` the words"
  if (attribute.type === 'inside') {
    const text = equalsText(item, false)
    const bare = item.characters.includes(STAR) ? undefined : plainText(item)
    return ending =>
      text(ending) ||
      (bare !== undefined &&
        ending.kind === 'plain' &&
        (typeof ending.value === 'number'
          ? bare !== '' && Number(bare) === ending.value
          : typeof ending.value === 'boolean' && String(ending.value) === bare))
  }
  // "On other types: 400" (a `*`); "`name=` is the empty string for text and 400 for other types."
  const wanted = parsePlain(attribute, plainText(item))
  return ending => ending.kind === 'plain' && ending.value !== null && comparePlain(attribute, ending.value, wanted) === 0
}

/**
 * "`*` in a string value stands for any run of characters; everything else, `%` `_` `?` `[` too, is literal and case-sensitive." Case is
 * folded by the regular expressions of ECMAScript, whose `iu` flags mean Unicode's simple case folding.
 */
function equalsText(item: Item, fold: boolean, bare = false): (ending: Ending) => boolean {
  if (item.null) return isNull
  const strip = (text: string): string => (bare ? text.normalize('NFD').replaceAll(MARKS, '') : text)
  const source = joinTexts(item.characters)
    .flatMap((part): readonly (string | typeof STAR)[] => (part === STAR ? [STAR] : [...strip(part)]))
    .map(char => (char === STAR ? '.*' : `\\u{${char.codePointAt(0)?.toString(16)}}`))
    .join('')
  const pattern = new RegExp(`^${source}$`, fold ? 'isu' : 'su')
  return ending =>
    ending.kind === 'plain' && typeof ending.value === 'string' && ending.value !== SOMETHING && pattern.test(strip(ending.value))
}

/**
 * "A relation is filtered by ID (`user=3`, `user=null`); a list holds when any related record does (`tags=3`, [...]); `tags=null` means
 * none."
 */
function equalsRelated(target: Resource, item: Item): (ending: Ending) => boolean {
  if (item.null) return ending => ending.kind === 'related' && ending.rows.length === 0
  const wanted = normalId(target, plainText(item))
  return ending => ending.kind === 'related' && ending.rows.some(row => normalId(target, String(idOf(row))) === wanted)
}

/** An ID as text that is equal for equal keys. */
function normalId(resource: Resource, text: string): string {
  const [name = '', ...more] = resource.key
  const attribute = resource.attributes[name]
  if (more.length > 0 || attribute?.kind !== 'plain') return text
  return String(parsePlain(attribute, text))
}
