/**
 * JSON file: a file of collections, as json-server serves it, read and told: its text, and what has been inferred from it.
 */
import { readFile } from 'node:fs/promises'
import { basename, extname } from 'node:path'
import { infer } from '../json-model/infer.ts'
import type { InferOptions } from '../json-model/infer.ts'
import type { InferredAttribute, InferredCollection } from '../json-model/infer-model.ts'
import { describePosition, findJsonError } from '../base/json-position.ts'
import { CommandError } from './command-error.ts'

// From so many bytes on the command says what it is doing.
const LARGE = 10_000_000

/** Says on standard error what takes a while. */
export function progress(text: string): void {
  process.stderr.write(`mikro-rest ${text} ...\n`)
}

/** Says that the records of a large file are being loaded. */
export function announceRecords({ name, text, collections }: JsonFile): void {
  if (text.length <= LARGE) return
  const count = collections.reduce((sum, { records }) => sum + records.length, 0)
  progress(`loads ${count.toLocaleString('en')} records of ${name}`)
}

/** A file of collections. */
export interface JsonFile {
  /** As the command line names it. */
  readonly name: string
  /** Absolute. */
  readonly path: string
  readonly text: string
  readonly collections: readonly InferredCollection[]
}

/** @throws CommandError, TypeError when the file is not UTF-8, not JSON, or holds what cannot be served. */
export async function readJsonFile(name: string, path: string, options: InferOptions = {}): Promise<JsonFile> {
  const bytes = await readFile(path)
  if (bytes.length > LARGE) progress(`reads ${name} (${Math.round(bytes.length / 1e6)} MB)`)
  const text = decode(bytes, name)
  return { name, path, text, collections: infer(parseJson(text, name), name, { name: basename(name, extname(name)), ...options }) }
}

/** Text as it is in the file, its byte order mark included, so that it can be written back. */
function decode(bytes: Buffer, name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new CommandError(`${name} is not UTF-8 text.`)
  }
}

/** The value of a JSON text. */
export function parseJson(text: string, name: string): unknown {
  const bare = dropByteOrderMark(text)
  try {
    return JSON.parse(bare)
  } catch (error) {
    const fault = findJsonError(bare)
    if (fault === undefined) throw error
    const found = fault.found === undefined ? 'the text ends too early' : `unexpected ${JSON.stringify(fault.found)}`
    throw new CommandError(`${name} is not JSON: ${found} at ${describePosition(fault)}.`)
  }
}

/** Text without the byte order mark that some editors begin it with. */
export function dropByteOrderMark(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text
}

/** What has been inferred, as a table of lines. */
export function formatInference({ collections }: JsonFile): string[] {
  const rows = collections.map(collection => {
    const { resource: name, single, records } = collection
    const count = single ? 'an object' : `${records.length} ${records.length === 1 ? 'record' : 'records'}`
    return [
      name,
      count,
      [...collection.attributes.map(each => describe(each, collection)), ...describeInverses(collection, collections)].join(', '),
    ] as const
  })
  const [names, counts] = [0, 1].map(column => Math.max(...rows.map(row => row[column as 0].length)))
  return rows.map(([name, count, attributes]) => `  ${name.padEnd(names ?? 0)}  ${count.padStart(counts ?? 0)}  ${attributes}`)
}

function describe(attribute: InferredAttribute, { idType, hasIds }: InferredCollection): string {
  const { name } = attribute
  switch (attribute.kind) {
    case 'id':
      return `${name} ${hasIds ? idType : 'by position'}`
    case 'plain':
      return `${name} ${attribute.type}${attribute.nullable ? '?' : ''}`
    case 'toOne':
      return `${name} → ${attribute.target}${attribute.nullable ? '?' : ''}`
    case 'toMany':
      return `${name} → ${attribute.target}[]`
  }
}

/** The lists that relations of other collections have added to the records of this one. */
function describeInverses({ name }: InferredCollection, collections: readonly InferredCollection[]): string[] {
  return collections.flatMap(source =>
    source.attributes.flatMap(attribute => {
      if ((attribute.kind !== 'toOne' && attribute.kind !== 'toMany') || attribute.target !== name || attribute.inverse === undefined)
        return []
      return [`${attribute.inverse} ← ${source.resource}.${attribute.name}`]
    }),
  )
}
