/** Reads CSV (RFC 4180), and matches columns to attributes by name. */
import type { OutlinedResource, OutlinedAttribute } from '../../description/outline/outline-parts.ts'
import { readDraft } from './input-text.ts'

export interface CsvFile {
  /** From the first line. */
  readonly names: readonly string[]
  readonly rows: readonly (readonly string[])[]
  readonly lines: readonly number[]
}

const SEPARATORS = [',', ';', '\t', '|']

/** @throws SyntaxError for an unclosed quote, or a row with more values than names */
export function parseCsv(given: string): CsvFile {
  const text = given.replace(/^\uFEFF/, '')
  const separator = findSeparator(text)
  const rows: string[][] = []
  const lines: number[] = []
  let line = 1
  let row: string[] = []
  let began = 1
  const mark = separator === '|' ? String.raw`\|` : separator
  const pattern = new RegExp(String.raw`(?:"((?:[^"]|"")*)"|([^"${mark}\r\n][^${mark}\r\n]*|))(${mark}|\r\n|\n|\r|$)`, 'gy')
  while (pattern.lastIndex <= text.length) {
    const at = pattern.lastIndex
    const found = pattern.exec(text)
    if (found === null) throw new SyntaxError(`Line ${line}: a quote does not end, or something follows it.`)
    const [whole, quoted, plain = '', end = ''] = found
    row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    line += whole.match(/\r\n|\n|\r/g)?.length ?? 0
    if (end !== separator) {
      if (row.length > 1 || row[0] !== '') {
        rows.push(row)
        lines.push(began)
      }
      row = []
      began = line
    }
    if (end === '' || pattern.lastIndex === at) break
  }
  return checkWidth({ names: rows[0] ?? [], rows: rows.slice(1), lines: lines.slice(1) })
}

function checkWidth(file: CsvFile): CsvFile {
  const index = file.rows.findIndex(row => row.length > file.names.length)
  if (index >= 0)
    throw new SyntaxError(
      `Line ${file.lines[index]}: it has ${file.rows[index]!.length} values, the first line ${file.names.length} names.`,
    )
  return file
}

function findSeparator(text: string): string {
  const [first = ''] = text.split(/[\r\n]/, 1)
  const bare = first.replaceAll(/"(?:[^"]|"")*"/g, '')
  const counts = SEPARATORS.map(sign => bare.split(sign).length)
  return SEPARATORS[counts.indexOf(Math.max(...counts))]!
}

export function importable({ attributes, writeOnly = [], version }: OutlinedResource): readonly OutlinedAttribute[] {
  return [...attributes, ...writeOnly].filter(
    ({ kind, readOnly, name, flag }) => kind !== 'toMany' && !readOnly && name !== version && flag === undefined,
  )
}

/** Ignores case, spaces, `_`, `-` and `.`. Undefined: no attribute. In an open resource, a column may be a new attribute. */
export function matchColumns(names: readonly string[], resource: OutlinedResource): (string | undefined)[] {
  const bare = (name: string): string => name.toLowerCase().replaceAll(/[\s_.-]/g, '')
  return names.map(
    name =>
      importable(resource).find(each =>
        [each.name, each.ids, each.kind === 'toOne' ? `${each.name}Id` : undefined].some(
          own => own !== undefined && bare(own) === bare(name),
        ),
      )?.name ?? (resource.open === true && name !== '' ? name : undefined),
  )
}

/** Values of a new attribute: numbers, `true`, `false` and JSON as such, others as texts. */
function asNew(name: string): OutlinedAttribute {
  const may = { nullable: true, required: false, readOnly: false, unique: false, filterable: false, sortable: false }
  return { name, kind: 'scalar', type: 'value', ...may }
}

interface CsvRecords {
  readonly records: readonly Readonly<Record<string, unknown>>[]
  /** Unreadable values, by line. */
  readonly faults: readonly string[]
}

/** @param columns the attribute of each column; undefined skips the column */
export function readCsvRecords(
  file: CsvFile,
  columns: readonly (string | undefined)[],
  resource: OutlinedResource,
  find: (name: string) => OutlinedResource | undefined,
): CsvRecords {
  const attributes = columns.map(
    name =>
      importable(resource).find(each => each.name === name) ?? (name !== undefined && resource.open === true ? asNew(name) : undefined),
  )
  const faults: string[] = []
  const records = file.rows.map((row, index) => {
    const record: Record<string, unknown> = {}
    for (const [at, attribute] of attributes.entries()) {
      if (attribute === undefined) continue
      try {
        const value = readCell(row[at] ?? '', attribute, find)
        if (value !== undefined) record[attribute.ids ?? attribute.name] = value
      } catch (error) {
        faults.push(`Line ${file.lines[index]}: "${attribute.name}" is not JSON: ${(error as Error).message}`)
      }
    }
    return record
  })
  return { records, faults }
}

/** An empty value is null if allowed, `''` for a required text, else missing. */
function readCell(text: string, attribute: OutlinedAttribute, find: (name: string) => OutlinedResource | undefined): unknown {
  const { kind, type, nullable, required, target } = attribute
  if (text === '') return nullable ? null : required && type === 'text' ? '' : undefined
  const isText = kind === 'scalar' && type === 'text'
  const word = isText ? text : text.trim()
  if (type === 'boolean') return readBoolean(word)
  return readDraft(word, attribute, target === undefined ? undefined : find(target))
}

function readBoolean(word: string): unknown {
  const lower = word.toLowerCase()
  if (['true', '1', 'yes'].includes(lower)) return true
  return ['false', '0', 'no'].includes(lower) ? false : word
}
