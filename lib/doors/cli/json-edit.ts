/** Edits records in a JSON text, and leaves every other character. New text follows the style of its neighbours. */
import { parseLong } from '../../foundation/json/json-numbers.ts'
import { findValueEnd, isSpace, scanItems, scanMembers, skipSpace, type Item, type MemberSpan, type Span } from './json-spans.ts'
import { dropByteOrderMark } from './json-text.ts'

/** Deletes a record, or gives members new values; `undefined` removes a member. A function without a result leaves the record. */
export type RecordEdit = 'delete' | ((record: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>> | undefined)

interface CollectionEdit {
  readonly records: ReadonlyMap<number, RecordEdit>
  readonly added: readonly object[]
}

interface TextReplacement {
  readonly span: Span
  readonly by: string
}

interface EditPlace {
  readonly name: string
  start: number
  end: number
  items: Item[] | undefined
}

interface ArrayEdit {
  /** In the order of the text. */
  readonly replaced: readonly TextReplacement[]
  readonly items: Item[]
}

/** A JSON text of collections: arrays of objects, or an object as the only record. Remembers the place of each record. */
export class EditedText {
  #text: string
  readonly #style: Style
  /** In the order of the text. */
  readonly #places: readonly EditPlace[]

  /** @param text valid JSON, an object or one collection at the top level */
  constructor(text: string) {
    this.#text = text
    this.#style = detectStyle(text)
    const first = skipSpace(text, text.length - dropByteOrderMark(text).length)
    const members = text[first] === '[' ? [{ key: '', value: { start: first, end: findValueEnd(text, first) } }] : scanMembers(text, first)
    // JSON.parse takes the last of repeated names, too.
    const last = new Map(members.map(({ key, value }) => [key, value]))
    this.#places = [...last]
      .map(([name, value]) => ({ name, ...value, items: text[value.start] === '[' ? scanItems(text, value) : undefined }))
      .toSorted((a, b) => a.start - b.start)
  }

  get text(): string {
    return this.#text
  }

  /** @param edits by names of collections; a list at the top level has an empty name */
  edit(edits: ReadonlyMap<string, CollectionEdit>): void {
    const text = this.#text
    let edited = ''
    let from = 0
    let delta = 0
    for (const place of this.#places) {
      const edit = edits.get(place.name)
      const moved = delta
      const replaced = edit === undefined || (edit.added.length === 0 && edit.records.size === 0) ? [] : this.#editPlace(place, edit)
      for (const { span, by } of replaced) {
        edited += text.slice(from, span.start) + by
        from = span.end
        delta += by.length - (span.end - span.start)
      }
      place.start += moved
      place.end += delta
      if (moved !== 0 && place.items !== undefined) move(place.items, moved)
    }
    this.#text = edited + text.slice(from)
  }

  /** Places are those before the edit. */
  #editPlace(place: EditPlace, edit: CollectionEdit): readonly TextReplacement[] {
    const text = this.#text
    const { start, end, items } = place
    if (items === undefined) return [{ span: { start, end }, by: editRecord(text, { start, end }, edit.records.get(0), this.#style) }]
    const change = editArray(text, { array: { start, end }, items }, edit, this.#style)
    place.items = change.items
    return change.replaced
  }
}

function move(items: readonly Item[], by: number): void {
  for (const item of items) {
    item.before += by
    item.start += by
    item.end += by
  }
}

interface Style {
  /** Of a level. Empty: the file is one line. */
  readonly indent: string
  /** Empty: all in one line. */
  readonly newline: string
  /** Behind colons, and behind commas inside a line. */
  readonly gap: string
}

function detectStyle(text: string): Style {
  const [, newline = '', indent = ''] = /(\r?\n)([ \t]*)"/.exec(text) ?? []
  const gap = newline !== '' || /^[^"]*"(?:[^"\\]|\\.)*"\s*:\s/.test(text) ? ' ' : ''
  return { indent: newline === '' ? '' : indent === '' ? '  ' : indent, newline, gap }
}

interface ScannedArray {
  readonly array: Span
  readonly items: readonly Item[]
}

/** `before` is the white space in front. */
interface WrittenText {
  readonly before: string
  readonly text: string
}

/** After a deletion, and in an empty list, white space and commas between records are written anew. */
function editArray(text: string, scanned: ScannedArray, edit: CollectionEdit, style: Style): ArrayEdit {
  const { items } = scanned
  const last = items.at(-1)
  if (last === undefined || [...edit.records.values()].includes('delete')) return rewriteArray(text, scanned, edit, style)
  const changed = [...edit.records].toSorted(([a], [b]) => a - b)
  const replaced = changed.map(([index, change]) => {
    const { start, end } = items[index]!
    return { span: { start, end }, by: editRecord(text, { start, end }, change, style) }
  })
  const added = writeAdded(text, scanned, edit.added, style)
  const by = added.map(each => `,${each.before}${each.text}`).join('')
  const all = by === '' ? replaced : [...replaced, { span: { start: last.end, end: last.end }, by }]
  moveChanged(items, replaced)
  return { replaced: all, items: [...items, ...placeItems(added, last.end + 1)] }
}

function moveChanged(items: readonly Item[], replaced: readonly TextReplacement[]): void {
  let delta = 0
  let next = 0
  for (const item of items) {
    const change = replaced[next]
    const isReplaced = change?.span.start === item.start
    item.before += delta
    item.start += delta
    if (isReplaced) {
      delta += change.by.length - (change.span.end - change.span.start)
      next++
    }
    item.end += delta
  }
}

function rewriteArray(text: string, { array, items }: ScannedArray, { records, added }: CollectionEdit, style: Style): ArrayEdit {
  const kept: WrittenText[] = []
  for (const [index, item] of items.entries()) {
    const edit = records.get(index)
    if (edit === 'delete') continue
    // The first kept item takes the place of the first item.
    const place = kept.length === 0 ? items[0]! : item
    kept.push({ before: text.slice(place.before, place.start), text: editRecord(text, item, edit, style) })
  }
  const written = [...kept, ...writeAdded(text, { array, items }, added, style, kept.length === 0)]
  const last = items.at(-1)
  const tail = last === undefined ? formatLineBreak(style, findIndent(text, array.start)) : text.slice(last.end, array.end - 1)
  const by = written.length === 0 ? '[]' : `[${written.map(each => each.before + each.text).join(',')}${tail}]`
  return { replaced: [{ span: array, by }], items: placeItems(written, array.start + 1) }
}

function placeItems(written: readonly WrittenText[], start: number): Item[] {
  let at = start
  return written.map(({ before, text }) => {
    const item = { before: at, start: at + before.length, end: at + before.length + text.length }
    at = item.end + 1
    return item
  })
}

function writeAdded(
  text: string,
  { array, items }: ScannedArray,
  added: readonly object[],
  style: Style,
  isFirst = false,
): readonly WrittenText[] {
  if (added.length === 0) return []
  const last = items.at(-1)
  const outer = findIndent(text, array.start)
  const lead = last === undefined ? formatLineBreak(style, outer + style.indent) : text.slice(last.before, last.start)
  const first = items[0] === undefined ? lead : text.slice(items[0].before, items[0].start)
  const neighbour = items.findLast(item => text[item.start] === '{') ?? last
  const model = neighbour === undefined ? undefined : text.slice(neighbour.start, neighbour.end)
  return added.map((record, index) => {
    const before = isFirst && index === 0 ? first : items.length > 1 || lead.includes('\n') ? lead : style.gap
    const indent = before.includes('\n')
      ? before.slice(before.lastIndexOf('\n') + 1)
      : last === undefined
        ? outer
        : findIndent(text, last.end - 1)
    return { before, text: formatNewRecord(record, model, indent, style) }
  })
}

function formatNewRecord(record: object, neighbour: string | undefined, indent: string, style: Style): string {
  if (neighbour === undefined || neighbour.includes('\n')) return format(record, indent, style)
  const [, padding = ''] = /^\{(\s*)"/.exec(neighbour) ?? []
  return formatInLine(record, { gap: findGap(neighbour) ?? style.gap, padding })
}

/** New members come at the end of a record. */
function editRecord(text: string, record: Span, change: RecordEdit | undefined, style: Style): string {
  const before = text.slice(record.start, record.end)
  if (change === undefined || change === 'delete') return before
  const edit = change(parseLong(before) as Record<string, unknown>)
  if (edit === undefined || Object.keys(edit).length === 0) return before
  const members = scanMembers(text, record.start)
  const kept = members.filter(({ key }) => !(Object.hasOwn(edit, key) && edit[key] === undefined))
  if (kept.length < members.length) {
    const line = text.slice(text.lastIndexOf('\n', record.start) + 1, record.start)
    const shorter = line + keepMembers(text, record, members, kept)
    const others = Object.fromEntries(Object.entries(edit).filter(([, value]) => value !== undefined))
    return editRecord(shorter, { start: line.length, end: shorter.length }, () => others, style)
  }
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

/** As `JSON.stringify`, in a line with the indentation. */
function format(value: unknown, indent: string, style: Style): string {
  if (style.newline === '') return formatInLine(value, { gap: style.gap, padding: '' })
  return JSON.stringify(value, undefined, style.indent).replaceAll('\n', style.newline + indent)
}

interface LineStyle {
  readonly gap: string
  readonly padding: string
}

function keepMembers(text: string, record: Span, members: readonly MemberSpan[], kept: readonly MemberSpan[]): string {
  if (kept.length === 0) return '{}'
  const written = kept.map((member, index) => {
    const before = members[members.indexOf(member) - 1]
    return `${index === 0 ? '' : text.slice(before!.end, member.start)}${text.slice(member.start, member.end)}`
  })
  return `${text.slice(record.start, members[0]!.start)}${written.join('')}${text.slice(members.at(-1)!.end, record.end)}`
}

// TypeScript's types lack `isRawJSON`.
const isKept = (JSON as unknown as { readonly isRawJSON: (value: unknown) => boolean }).isRawJSON

function formatInLine(value: unknown, style: LineStyle): string {
  if (typeof value !== 'object' || value === null || isKept(value)) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(item => formatInLine(item, style)).join(`,${style.gap}`)}]`
  const members = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}:${style.gap}${formatInLine(item, style)}`)
  return members.length === 0 ? '{}' : `{${style.padding}${members.join(`,${style.gap}`)}${style.padding}}`
}

function findGap(object: string): string | undefined {
  return /^\{\s*"(?:[^"\\]|\\.)*"\s*:([ \t]*)/.exec(object)?.[1]
}

function formatLineBreak({ newline }: Style, indent: string): string {
  return newline === '' ? '' : newline + indent
}

function findIndent(text: string, position: number): string {
  const start = text.lastIndexOf('\n', position - 1) + 1
  return /^[ \t]*/.exec(text.slice(start, position))![0]
}

function findSpaceStart(text: string, position: number): number {
  let at = position
  while (isSpace(text.charCodeAt(at - 1))) at--
  return at
}
