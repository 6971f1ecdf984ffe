/**
 * Edits records in a JSON text of collections and leaves every other character as it is: formatting, the spelling of numbers, the order
 * of keys. New text follows the style of its neighbours.
 */
import { dropByteOrderMark } from './json-file.ts'

/** The edits of one collection, in the order of its records in the text. */
export interface CollectionEdit {
  /** For each item: its new members, 'delete', or undefined for no change. Members that are not named stay. */
  readonly records: readonly (Readonly<Record<string, unknown>> | 'delete' | undefined)[]
  /** Records to add at the end. */
  readonly added: readonly object[]
}

/** The position of a value in the text. `end` is after its last character. */
interface Span {
  readonly start: number
  readonly end: number
}

interface Member extends Span {
  readonly key: string
  readonly value: Span
}

/**
 * Applies edits to the text, by the names of collections. The value of a collection is an array of objects, or one object, which is its
 * only record.
 *
 * @param text valid JSON, an object or one collection at the top level
 */
export function editCollections(text: string, edits: ReadonlyMap<string, CollectionEdit>): string {
  const style = detectStyle(text)
  const start = text.length - dropByteOrderMark(text).length
  const replaced: { span: Span; by: string }[] = []
  // Of a repeated name the last one counts, as for JSON.parse.
  const first = skipSpace(text, start)
  // A list at the top level is the only collection.
  const top = text[first] === '[' ? { start: first, end: findValueEnd(text, first) } : undefined
  const collections = new Map(top === undefined ? scanMembers(text, first).map(({ key, value }) => [key, value]) : [])
  for (const [name, edit] of edits) {
    if (changesNothing(edit)) continue
    const span = top ?? collections.get(name)
    if (span === undefined) throw new Error(`The text does not contain the collection "${name}".`)
    replaced.push({
      span,
      by: text[span.start] === '[' ? editArray(text, span, edit, style) : editRecord(text, span, edit.records[0], style),
    })
  }
  let edited = ''
  let from = 0
  for (const { span, by } of replaced.toSorted((a, b) => a.span.start - b.span.start)) {
    edited += text.slice(from, span.start) + by
    from = span.end
  }
  return edited + text.slice(from)
}

function changesNothing({ records, added }: CollectionEdit): boolean {
  return added.length === 0 && records.every(edit => edit === undefined || (edit !== 'delete' && Object.keys(edit).length === 0))
}

/** The layout of a text. */
interface Style {
  /** The indentation of one level; empty when everything is in one line. */
  readonly indent: string
  /** The line break; empty when everything is in one line. */
  readonly newline: string
  /** The space after colons, and after commas inside a line. */
  readonly gap: string
}

function detectStyle(text: string): Style {
  const [, newline = '', indent = ''] = /(\r?\n)([ \t]*)"/.exec(text) ?? []
  const gap = newline !== '' || /^[^"]*"(?:[^"\\]|\\.)*"\s*:\s/.test(text) ? ' ' : ''
  return { indent: newline === '' ? '' : indent === '' ? '  ' : indent, newline, gap }
}

function editArray(text: string, array: Span, { records, added }: CollectionEdit, style: Style): string {
  const items = scanItems(text, array)
  const kept: { before: string; text: string }[] = []
  for (const [index, item] of items.entries()) {
    const edit = records[index]
    if (edit === 'delete') continue
    // When the first item goes, the next one takes its place.
    const place = kept.length === 0 ? items[0]! : item
    kept.push({ before: text.slice(place.before, place.start), text: editRecord(text, item, edit, style) })
  }
  const last = items.at(-1)
  const outer = findIndent(text, array.start)
  const lead = last === undefined ? formatLineBreak(style, outer + style.indent) : text.slice(last.before, last.start)
  const tail = last === undefined ? formatLineBreak(style, outer) : text.slice(last.end, array.end - 1)
  for (const record of added) {
    const isFirst = kept.length === 0
    const first = items[0] === undefined ? lead : text.slice(items[0].before, items[0].start)
    const before = isFirst ? first : items.length > 1 || lead.includes('\n') ? lead : style.gap
    const indent = before.includes('\n')
      ? before.slice(before.lastIndexOf('\n') + 1)
      : last === undefined
        ? outer
        : findIndent(text, last.end - 1)
    const neighbour = items.findLast(item => text[item.start] === '{') ?? last
    kept.push({
      before,
      text: formatNewRecord(record, neighbour === undefined ? undefined : text.slice(neighbour.start, neighbour.end), indent, style),
    })
  }
  return kept.length === 0 ? '[]' : `[${kept.map(({ before, text: item }) => before + item).join(',')}${tail}]`
}

/** Formats a record like its neighbour: in one line, or in several. */
function formatNewRecord(record: object, neighbour: string | undefined, indent: string, style: Style): string {
  if (neighbour === undefined || neighbour.includes('\n')) return format(record, indent, style)
  const [, padding = ''] = /^\{(\s*)"/.exec(neighbour) ?? []
  return formatInLine(record, { gap: findGap(neighbour) ?? style.gap, padding })
}

/** Changes the members of a record. New members come at its end. */
function editRecord(text: string, record: Span, edit: CollectionEdit['records'][number], style: Style): string {
  const before = text.slice(record.start, record.end)
  if (edit === undefined || edit === 'delete') return before
  const members = scanMembers(text, record.start)
  const last = members.at(-1)
  const isOneLine = !before.includes('\n') && last !== undefined
  const line: LineStyle = { gap: findGap(before) ?? style.gap, padding: '' }
  const indent = last === undefined ? findIndent(text, record.start) + style.indent : findIndent(text, last.start)
  const write = (value: unknown, old?: Span): string => {
    const was = old === undefined ? '' : text.slice(old.start, old.end)
    const isShort = isOneLine || (/^[[{]\s*[^\s\]}]/.test(was) && !was.includes('\n'))
    return isShort ? formatInLine(value, line) : format(value, indent, style)
  }
  const byKey = new Map(members.map(member => [member.key, member]))
  let edited = ''
  let from = record.start
  for (const member of members) {
    if (byKey.get(member.key) !== member || !Object.hasOwn(edit, member.key)) continue
    edited += text.slice(from, member.value.start) + write(edit[member.key], member.value)
    from = member.value.end
  }
  const added = Object.keys(edit).filter(key => !byKey.has(key))
  if (added.length === 0) return edited + text.slice(from, record.end)
  const written = added.map(key => `${JSON.stringify(key)}:${isOneLine ? line.gap : ' '}${write(edit[key])}`)
  if (last === undefined) {
    const inner = formatLineBreak(style, indent)
    return `{${inner}${written.join(`,${inner}`)}${formatLineBreak(style, findIndent(text, record.start))}}`
  }
  const separator = isOneLine ? `,${line.gap}` : `,${text.slice(findSpaceStart(text, last.start), last.start)}`
  edited += text.slice(from, last.value.end) + written.map(each => separator + each).join('')
  return edited + text.slice(last.value.end, record.end)
}

/** Formats a value over several lines as `JSON.stringify` does, beginning in a line of this indentation. */
function format(value: unknown, indent: string, style: Style): string {
  if (style.newline === '') return formatInLine(value, { gap: style.gap, padding: '' })
  return JSON.stringify(value, undefined, style.indent).replaceAll('\n', style.newline + indent)
}

interface LineStyle {
  readonly gap: string
  /** The space inside the braces of objects. */
  readonly padding: string
}

/** Formats a value in one line. */
function formatInLine(value: unknown, style: LineStyle): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(item => formatInLine(item, style)).join(`,${style.gap}`)}]`
  const members = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}:${style.gap}${formatInLine(item, style)}`)
  return members.length === 0 ? '{}' : `{${style.padding}${members.join(`,${style.gap}`)}${style.padding}}`
}

/** Finds the space after the first colon of an object, if it has one. */
function findGap(object: string): string | undefined {
  return /^\{\s*"(?:[^"\\]|\\.)*"\s*:([ \t]*)/.exec(object)?.[1]
}

function formatLineBreak({ newline }: Style, indent: string): string {
  return newline === '' ? '' : newline + indent
}

/** Finds the indentation of the line of a position. */
function findIndent(text: string, position: number): string {
  const start = text.lastIndexOf('\n', position - 1) + 1
  return /^[ \t]*/.exec(text.slice(start, position))![0]
}

/** Finds the beginning of the white space before a position. */
function findSpaceStart(text: string, position: number): number {
  let at = position
  while (isSpace(text.charCodeAt(at - 1))) at--
  return at
}

/** Scans the members of the object that begins at a position. */
function scanMembers(text: string, start: number): Member[] {
  const members: Member[] = []
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

/** Scans the items of an array, each with the beginning of the white space before it. */
function scanItems(text: string, { start }: Span): (Span & { readonly before: number })[] {
  const items: (Span & { before: number })[] = []
  let before = start + 1
  for (let at = skipSpace(text, before); text[at] !== ']'; at = skipSpace(text, before)) {
    const end = findValueEnd(text, at)
    items.push({ before, start: at, end })
    const next = skipSpace(text, end)
    before = text[next] === ',' ? next + 1 : next
  }
  return items
}

function findValueEnd(text: string, start: number): number {
  const first = text[start]
  if (first === '"') return findStringEnd(text, start)
  let at = start
  if (first !== '{' && first !== '[') {
    while (at < text.length && !isSpace(text.charCodeAt(at)) && !',]}'.includes(text.charAt(at))) at++
    return at
  }
  let depth = 0
  do {
    const character = text[at]
    if (character === '"') at = findStringEnd(text, at) - 1
    else if (character === '{' || character === '[') depth++
    else if (character === '}' || character === ']') depth--
    at++
  } while (depth > 0)
  return at
}

function findStringEnd(text: string, start: number): number {
  let at = start + 1
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at + 1
}

function skipSpace(text: string, start: number): number {
  let at = start
  while (isSpace(text.charCodeAt(at))) at++
  return at
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
}
