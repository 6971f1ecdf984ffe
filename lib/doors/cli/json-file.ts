/** Reads a JSON file of collections, as for json-server, and infers the model. */
import { readFile } from 'node:fs/promises'
import { basename, extname } from 'node:path'
import { findOddities, parseLong, type JsonFinding } from '../../foundation/json/json-numbers.ts'
import { infer, type InferOptions } from '../../model/json-model/infer.ts'
import type { InferredAttribute, InferredCollection } from '../../model/json-model/infer-model.ts'
import { CommandError } from './command-error.ts'
import { escapeControls } from './explanation-text.ts'
import { dropByteOrderMark, parseJson } from './json-text.ts'

// Progress is printed for files of more bytes.
const LARGE = 10_000_000

function progress(text: string): void {
  process.stderr.write(`mikro-rest ${text} ...\n`)
}

export function announceRecords({ name, text, collections }: JsonFile): void {
  if (text.length <= LARGE) return
  const count = collections.reduce((sum, { records }) => sum + records.length, 0)
  progress(`loads ${count.toLocaleString('en')} records of ${name}`)
}

export interface JsonFile {
  /** The name on the command line. */
  readonly name: string
  /** Absolute. */
  readonly path: string
  readonly text: string
  readonly collections: readonly InferredCollection[]
}

/** @throws CommandError, TypeError for a file that is not UTF-8 or JSON, or data that cannot be served */
export async function readJsonFile(name: string, path: string, options: InferOptions = {}): Promise<JsonFile> {
  const bytes = await readFile(path)
  if (bytes.length > LARGE) progress(`reads ${name} (${Math.round(bytes.length / 1e6)} MB)`)
  return readJsonText(name, path, decode(bytes, name), { name: basename(name, extname(name)), ...options })
}

export function readJsonText(name: string, path: string, text: string, options: InferOptions): JsonFile {
  const data = parseJson(text, name, parseLong)
  const oddities = readOddities(dropByteOrderMark(text))
  return { name, path, text, collections: infer(data, name, { ...oddities, ...options }) }
}

/** Shows `['orders', 0, 'id']` as `orders.id`, and `['profile', 'id']` as `profile.id`. */
function formatMember([collection, ...inside]: readonly (string | number)[]): string {
  return `${collection}.${inside.find(key => typeof key === 'string')}`
}

const NAMED = 3

/** Finds repeated names and numbers with too many digits, absent from parsed values. */
function readOddities(text: string): Pick<InferOptions, 'oddities' | 'long'> {
  const findings = [...findOddities(text)]
  const repeated = findings.filter(({ kind }) => kind === 'repeated')
  const [integers, fractions] = [true, false].map(isInteger =>
    findings.filter(({ kind, text: digits }) => kind === 'rounded' && /^-?\d+$/.test(digits) === isInteger),
  ) as [JsonFinding[], JsonFinding[]]
  const list = (found: readonly JsonFinding[], describe: (finding: JsonFinding) => string): string => {
    const more = found.length - NAMED
    return `${found.slice(0, NAMED).map(describe).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
  }
  const digitsOf = ({ path, text: digits }: JsonFinding): string => `${path} is ${digits}`
  const kinds = [
    [repeated, `a key stands twice in an object: ${list(repeated, ({ path }) => path)}`, 'so the last one holds'],
    [integers, `${list(integers, digitsOf)}: an integer beyond 2^53 has more digits than a number keeps`, 'so it is a string here'],
    [fractions, `${list(fractions, digitsOf)}: a fraction has more digits than a number keeps`, 'so it is shown rounded'],
  ] as const
  return {
    oddities: kinds.flatMap(([found, problem, remedy]) => (found.length === 0 ? [] : [{ problem, remedy }])),
    long: countBy(integers.map(({ keys }) => formatMember(typeof keys[0] === 'string' ? keys : ['', ...keys]))),
  }
}

function countBy(names: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return counts
}

/** Keeps the byte order mark for saves. */
export function decode(bytes: Uint8Array, name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new CommandError(`${name} is not UTF-8 text.`)
  }
}

export function formatInference({ collections }: JsonFile): string[] {
  const rows = collections.map(collection => {
    const { resource: name, single, records, hasIds } = collection
    const attributes = collection.attributes.filter(({ kind }) => kind !== 'id' || hasIds || !single)
    const count = single ? 'an object' : `${records.length} ${records.length === 1 ? 'record' : 'records'}`
    return [
      name,
      count,
      [...attributes.map(each => describe(each, collection)), ...describeInverses(collection, collections)].join(', '),
    ] as const
  })
  const [names, counts] = [0, 1].map(column => Math.max(...rows.map(row => row[column as 0].length)))
  return rows.map(
    ([name, count, attributes]) => `  ${name.padEnd(names ?? 0)}  ${count.padStart(counts ?? 0)}  ${escapeControls(attributes)}`,
  )
}

function describe(attribute: InferredAttribute, { idType, hasIds }: InferredCollection): string {
  const { name, key } = attribute
  const relation = key === name ? '' : ` (${name})`
  switch (attribute.kind) {
    case 'id':
      return `${name} ${hasIds ? idType : 'by position'}`
    case 'plain':
      return `${name} ${attribute.type}${attribute.isEverywhere ? '' : '?'}`
    case 'toOne':
      return `${key} → ${attribute.target}${attribute.isEverywhere ? '' : '?'}${relation}`
    case 'toMany':
      return `${key} → ${attribute.target}[]${relation}`
  }
}

function describeInverses({ name }: InferredCollection, collections: readonly InferredCollection[]): string[] {
  return collections.flatMap(source =>
    source.attributes.flatMap(attribute => {
      if ((attribute.kind !== 'toOne' && attribute.kind !== 'toMany') || attribute.target !== name || attribute.inverse === undefined)
        return []
      return [`${attribute.inverse} ← ${source.resource}.${attribute.name}`]
    }),
  )
}
