/** Finds where values stand in a JSON text, without making the values. */

/** `end` is behind the last character. */
export interface Span {
  readonly start: number
  readonly end: number
}

export interface MemberSpan extends Span {
  readonly key: string
  readonly value: Span
}

/** Moves with edits in front of the item. `before` is the start of the white space in front. */
export interface Item {
  before: number
  start: number
  end: number
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

export function scanMembers(text: string, start: number): MemberSpan[] {
  const members: MemberSpan[] = []
  let at = skipSpace(text, start + 1)
  while (text[at] !== '}') {
    const end = findStringEnd(text, at)
    const value = skipSpace(text, skipSpace(text, end) + 1)
    const valueEnd = findValueEnd(text, value)
    members.push({ key: JSON.parse(text.slice(at, end)) as string, start: at, end: valueEnd, value: { start: value, end: valueEnd } })
    at = skipSpace(text, valueEnd)
    if (text[at] === ',') at = skipSpace(text, at + 1)
  }
  return members
}

export function scanItems(text: string, { start }: Span): Item[] {
  const items: Item[] = []
  let before = start + 1
  for (let at = skipSpace(text, before); text[at] !== ']'; at = skipSpace(text, before)) {
    const end = findValueEnd(text, at)
    items.push({ before, start: at, end })
    const next = skipSpace(text, end)
    before = text[next] === ',' ? next + 1 : next
  }
  return items
}

export function findValueEnd(text: string, start: number): number {
  const first = text[start]
  if (first === '"') return findStringEnd(text, start)
  let at = start
  if (first !== '{' && first !== '[') {
    while (at < text.length && !isSpace(text.charCodeAt(at)) && !',]}'.includes(text.charAt(at))) at++
    return at
  }
  let depth = 0
  do {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = findStringEnd(text, at) - 1
    else if (code === 0x7b || code === 0x5b) depth++
    else if (code === 0x7d || code === 0x5d) depth--
    at++
  } while (depth > 0)
  return at
}

function findStringEnd(text: string, start: number): number {
  let at = start + 1
  for (let code = text.charCodeAt(at); code !== QUOTE; code = text.charCodeAt(at)) at += code === BACKSLASH ? 2 : 1
  return at + 1
}

export function skipSpace(text: string, start: number): number {
  let at = start
  while (isSpace(text.charCodeAt(at))) at++
  return at
}

export function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
}
