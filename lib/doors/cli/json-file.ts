/** Reads a JSON file of collections, as json-server serves it, and infers its model. */
import { readFile } from 'node:fs/promises'
import { basename, extname } from 'node:path'
import { infer, type InferOptions } from '../../model/json-model/infer.ts'
import type { InferredAttribute, InferredCollection } from '../../model/json-model/infer-model.ts'
import { CommandError } from './command-error.ts'
import { parseJson } from './json-text.ts'

// Size in bytes from which the command prints its progress.
const LARGE = 10_000_000

/** Prints the progress of slow work on standard error. */
function progress(text: string): void {
  process.stderr.write(`mikro-rest ${text} ...\n`)
}

/** Prints that the records of a large file are being loaded. */
export function announceRecords({ name, text, collections }: JsonFile): void {
  if (text.length <= LARGE) return
  const count = collections.reduce((sum, { records }) => sum + records.length, 0)
  progress(`loads ${count.toLocaleString('en')} records of ${name}`)
}

/** A file of collections. */
export interface JsonFile {
  /** The name on the command line. */
  readonly name: string
  /** Absolute. */
  readonly path: string
  readonly text: string
  readonly collections: readonly InferredCollection[]
}

/**
 * Reads a file and infers its model.
 * @throws CommandError, TypeError when the file is not UTF-8 or not JSON, or its data cannot be served.
 */
export async function readJsonFile(name: string, path: string, options: InferOptions = {}): Promise<JsonFile> {
  const bytes = await readFile(path)
  if (bytes.length > LARGE) progress(`reads ${name} (${Math.round(bytes.length / 1e6)} MB)`)
  const text = decode(bytes, name)
  return { name, path, text, collections: infer(parseJson(text, name), name, { name: basename(name, extname(name)), ...options }) }
}

/** Decodes the text with its byte order mark, so that it can be written back unchanged. */
function decode(bytes: Buffer, name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new CommandError(`${name} is not UTF-8 text.`)
  }
}

/** Formats the inferred model as a table of lines. */
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
  const { name, key } = attribute
  const relation = key === name ? '' : ` (${name})`
  switch (attribute.kind) {
    case 'id':
      return `${name} ${hasIds ? idType : 'by position'}`
    case 'plain':
      return `${name} ${attribute.type}${attribute.nullable ? '?' : ''}`
    case 'toOne':
      return `${key} → ${attribute.target}${attribute.nullable ? '?' : ''}${relation}`
    case 'toMany':
      return `${key} → ${attribute.target}[]${relation}`
  }
}

/** Describes the lists that relations of other collections add to the records of this one. */
function describeInverses({ name }: InferredCollection, collections: readonly InferredCollection[]): string[] {
  return collections.flatMap(source =>
    source.attributes.flatMap(attribute => {
      if ((attribute.kind !== 'toOne' && attribute.kind !== 'toMany') || attribute.target !== name || attribute.inverse === undefined)
        return []
      return [`${attribute.inverse} ← ${source.resource}.${attribute.name}`]
    }),
  )
}
