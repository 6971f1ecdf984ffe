/**
 * JSON edit: changes the records in a text of collections and leaves every other character as it is, so that a file keeps its formatting, the spelling
 * of its numbers and whatever else its author chose. New text follows the style of what stands beside it.
 */
import { dropByteOrderMark } from './json-file.ts'

/** What is to become of the records of one collection, in the order in which the text has them. */
export interface CollectionEdit {
  /** For each item: what its members are to be, or that it goes; undefined: nothing. A member that is not named stays as it is. */
  readonly records: readonly (Readonly<Record<string, unknown>> | 'delete' | undefined)[]
  /** Records to add at the end. */
  readonly added: readonly object[]
}

/** A value in the text: from its first character to behind its last one. */
interface Span {
  readonly start: number
  readonly end: number
}

interface Member extends Span {
  readonly key: string
  readonly value: Span
}

/**
 * The text with the edits made, by the names of the collections. The value of a collection is an array of objects, or one object, which is its only
 * record.
 *
 * @param text valid JSON, an object or one collection at the top
 */
export function editCollections(text: string, edits: ReadonlyMap<string, CollectionEdit>): string {
  const style = detectStyle(text)
  const start = text.length - dropByteOrderMark(text).length
  const replaced: { span: Span; by: string }[] = []
  // Of a name that is there twice the last one counts, as for JSON.parse.
  const first = skipSpace(text, start)
  // A list at the top is the only collection.
  const top = text[first] === '[' ? { start: first, end: findValueEnd(text, first) } : undefined
  const collections = new Map(top === undefined ? scanMembers(text, first).map(({ key, value }) => [key, value]) : [])
  for (const [name, edit] of edits) {
    if (changesNothing(edit)) continue
    const span = top ?? collections.get(name)
    if (span === undefined) throw new Error(`The text has no collection "${name}".`)
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

/** How a text is laid out. */
interface Style {
  /** What one level is indented by; nothing when everything is in one line. */
  readonly indent: string
  /** What ends a line; empty when everything is in one line. */
  readonly newline: string
  /** What stands behind the colons, and behind the commas of one line. */
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
    // When the first one goes, the next takes its place.
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

/** A record as its neighbour is written: in one line, or in many. */
function formatNewRecord(record: object, neighbour: string | undefined, indent: string, style: Style): string {
  if (neighbour === undefined || neighbour.includes('\n')) return format(record, indent, style)
  const [, padding = ''] = /^\{(\s*)"/.exec(neighbour) ?? []
  return formatInLine(record, { gap: findGap(neighbour) ?? style.gap, padding })
}

/** A record with its members changed; the ones that it lacks come at its end. */
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

/** Over several lines, as `JSON.stringify` writes it, from a line of this indentation on. */
function format(value: unknown, indent: string, style: Style): string {
  if (style.newline === '') return formatInLine(value, { gap: style.gap, padding: '' })
  return JSON.stringify(value, undefined, style.indent).replaceAll('\n', style.newline + indent)
}

interface LineStyle {
  readonly gap: string
  /** What stands inside the braces of objects. */
  readonly padding: string
}

/** In one line. */
function formatInLine(value: unknown, style: LineStyle): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(item => formatInLine(item, style)).join(`,${style.gap}`)}]`
  const members = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}:${style.gap}${formatInLine(item, style)}`)
  return members.length === 0 ? '{}' : `{${style.padding}${members.join(`,${style.gap}`)}${style.padding}}`
}

/** What stands behind the first colon of an object, if it has one. */
function findGap(object: string): string | undefined {
  return /^\{\s*"(?:[^"\\]|\\.)*"\s*:([ \t]*)/.exec(object)?.[1]
}

function formatLineBreak({ newline }: Style, indent: string): string {
  return newline === '' ? '' : newline + indent
}

/** The indentation of the line that a position is in. */
function findIndent(text: string, position: number): string {
  const start = text.lastIndexOf('\n', position - 1) + 1
  return /^[ \t]*/.exec(text.slice(start, position))![0]
}

/** Where the white space before a position begins. */
function findSpaceStart(text: string, position: number): number {
  let at = position
  while (isSpace(text.charCodeAt(at - 1))) at--
  return at
}

/** The members of the object that begins at a position. */
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

/** The items of an array, each with the place where the white space before it begins. */
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
