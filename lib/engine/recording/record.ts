/** `engine.record`: writes a recording of a failed test. Throws TypeError for invalid options, and errors of the file system. */
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { readOptions, text } from '../../foundation/base/option-table.ts'
import type { Resource, EmbeddedAttribute, ScalarAttribute } from '../../model/model.ts'
import type { EngineParts } from '../assembly/assemble.ts'
import type { EngineInternals, OwnedEngine } from '../assembly/engine-internals.ts'
import { formatReason } from '../assembly/unavailable.ts'
import type { CheckedOptions, EngineOptions } from '../options/options.ts'
import { MAX_DATA, writeRecording, type RecordedFacts, type RecordedRequest, type RecordedResource } from './recording-file.ts'
import { describeEntities } from './recorded-model.ts'
import type { RecordOptions, Recorded } from './recorded.ts'
import { DAY_MS } from '../../foundation/async/clock.ts'
import type { ScalarKind, ScalarType } from '../../foundation/values/scalar-type.ts'
import { isObject } from '../../foundation/json/json.ts'
import { shownName } from '../../model/ids-name.ts'
import { internalsOf } from '../assembly/internals.ts'
import { contentsOf, makeSnapshot, type SnapshotContents } from '../worlds/snapshot.ts'
import { readTable } from '../journal/difference.ts'
import { serveRecorded, type Forking } from './serve-recorded.ts'

/** Newest requests that keep statements. */
const WITH_STATEMENTS = 100
/** In characters. */
const MAX_TEXT = 10_000

/** Options without code that affect answers. */
const OPTIONS = ['base', 'versions', 'createdStatus', 'deletedStatus', 'validationStatus', 'etag', 'forms'] as const

export async function record(internals: EngineInternals, path: string, options: RecordOptions, create: CreateCopy): Promise<Recorded> {
  if (typeof path !== 'string' || path === '') throw new TypeError('engine.record: the path must be that of a file: "failed.mikro".')
  readOptions(options, { test: [text], failure: [text] }, 'engine.record')
  const parts = internals.open
  const notes: string[] = []
  const beginning = await findBeginning(parts)
  const state = typeof beginning === 'string' ? undefined : beginning
  const written = typeof beginning === 'string' ? beginning : await parts.world.write(beginning.image, MAX_DATA)
  const gathered = await gather(internals, options, notes, written instanceof Uint8Array)
  const facts = { ...gathered, begun: state?.last ?? 0, notes }
  const data = written ?? (await copyRows(internals, state!, facts, create))
  if (typeof data === 'string') notes.push(`The data are not in the recording. ${formatReason(data)}`)
  const bytes = writeRecording(facts, typeof data === 'string' ? undefined : data)
  const file = resolve(path)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, bytes)
  return { path: file, bytes: bytes.length, notes }
}

async function findBeginning({ world }: EngineParts): Promise<Awaited<ReturnType<typeof world.beginning>> | string> {
  const { snapshot } = await world.unavailable()
  return snapshot ?? world.beginning().catch((error: unknown) => (error instanceof Error ? error.message : String(error)))
}

async function gather(
  internals: EngineInternals,
  { test, failure }: RecordOptions,
  notes: string[],
  hasData: boolean,
): Promise<Omit<RecordedFacts, 'begun' | 'notes'>> {
  const parts = internals.open
  const { options, connection, faults, events, clock, secrets, versions } = parts
  const { resources } = versions.first.model
  // Without data, entities describe the tables of the file.
  const isFromFile = options.entities === undefined && hasData
  noteCode(options, notes)
  return {
    at: new Date().toISOString(),
    ...(test === undefined ? {} : { test: secrets.maskNote(test.slice(0, MAX_TEXT)) }),
    ...(failure === undefined ? {} : { failure: secrets.maskNote(secrets.maskStored(failure.slice(0, MAX_TEXT))) }),
    options: { ...Object.fromEntries(OPTIONS.map(name => [name, options[name]])), parameters: listNames(options) },
    entities: isFromFile ? undefined : describeEntities(connection.orm, sentence => notes.push(sentence)),
    resources: resources.map(resource => describeResource(resource, isFromFile)),
    requests: await listRequests(internals),
    marks: events.marks,
    faults: faults.states.map(state => JSON.parse(secrets.maskStored(JSON.stringify(state))) as typeof state),
    clock: clock.setting,
  }
}

function listNames({ parameters }: CheckedOptions): Record<string, string> {
  return Object.fromEntries(Object.entries(parameters).filter((pair): pair is [string, string] => typeof pair[1] === 'string'))
}

function describeResource({ className, table, plural, singular, attributes, shownKey }: Resource, isFromFile: boolean): RecordedResource {
  return {
    entity: isFromFile ? table : className,
    plural,
    singular,
    hidden: attributes.filter(({ hidden }) => hidden).map(({ property }) => property),
    readOnly: attributes
      .filter(
        attribute =>
          attribute.readOnly &&
          attribute.kind === 'scalar' &&
          attribute.source.kind === 'column' &&
          !attribute.source.generated &&
          !attribute.primary,
      )
      .map(({ property }) => property),
    ids: attributes.flatMap(({ property, ids }) => (ids === undefined ? [] : [[property, ids] as const])),
    ...(shownKey === undefined ? {} : { key: shownKey.property }),
  }
}

/** Notes code: a recording holds none. */
function noteCode({ auth, routes, resources, envelope, lookup, orm }: CheckedOptions, notes: string[]): void {
  const missing = [
    auth !== undefined && 'the log-in',
    routes.length > 0 && 'routes',
    resources.some(({ config }) => Object.keys(config).some(name => !['name', 'singular', 'key'].includes(name))) &&
      'rules and computed attributes of resources',
    envelope !== undefined && 'the envelope',
    lookup !== undefined && 'the look-up',
    (orm.filters !== undefined || orm.subscribers !== undefined) && 'filters and subscribers',
  ].filter(each => each !== false)
  if (missing.length > 0)
    notes.push(`Code of the application is not in a recording: ${missing.join(', ')}. Requests that are sent again are answered without.`)
}

async function listRequests(internals: EngineInternals): Promise<RecordedRequest[]> {
  const { journal } = internals.open
  const records = journal?.recordsSince(0) ?? []
  const without = records.slice(0, Math.max(0, records.length - WITH_STATEMENTS)).map(each => journal!.show(each))
  const shown: RecordedRequest[] = [...without]
  for (const each of records.slice(without.length)) shown.push(await internals.showRequest(each))
  return shown
}

type CopyEngine = OwnedEngine & Forking<CopyEngine>

type CreateCopy = (options: EngineOptions) => Promise<CopyEngine>

/** Copying validates each row. */
const MAX_ROWS = 50_000

type Rows = Record<string, object[]>

/** Copies rows of a server to a SQLite file by the API, with values for every database. Gives a reason for a failure. */
async function copyRows(
  internals: EngineInternals,
  beginning: SnapshotContents,
  facts: RecordedFacts,
  create: CreateCopy,
): Promise<Uint8Array | string> {
  try {
    const past = await internals.fork(makeSnapshot(beginning))
    try {
      await using copy = await serveRecorded({ facts, data: undefined }, create)
      const rows = await readRows(internalsOf(past), internalsOf(copy).model.resources)
      if (typeof rows === 'string') return rows
      await copy.seed(rows)
      const { image } = contentsOf(await copy.snapshot())
      // The copy has no rules of the application: pass the secrets.
      return (await internalsOf(copy).parts.world.write(image, MAX_DATA, internals.open.secrets)) ?? 'the copy is none of SQLite'
    } finally {
      await past.close()
    }
  } catch (error) {
    return `they could not be copied: ${(error as Error).message.replace(/\.$/, '').replaceAll('\n', ' ').slice(0, 500)}`
  }
}

async function readRows({ open }: EngineInternals, recorded: readonly Resource[]): Promise<Rows | string> {
  const { connection, shared } = open
  const { watched } = shared
  const counts = await connection.countRows(watched.tables.map(({ resource }) => resource.table))
  const sum = counts.reduce((all, count) => all + count, 0)
  if (sum > MAX_ROWS) return `the database has ${sum.toLocaleString('en')} rows, and ${MAX_ROWS.toLocaleString('en')} are copied at most`
  const rows: Rows = {}
  for (const table of watched.tables) {
    const target = recorded.find(({ className }) => className === table.resource.className)
    if (target === undefined) continue
    const known = new Set(target.attributes.map(shownName))
    const records = [...(await readTable(table, watched, connection)).values()]
    rows[target.plural] = records.map((record, index) => {
      const shown = Object.fromEntries(Object.entries(record).filter(([name]) => known.has(name)))
      return replaceHidden(shown, target.attributes, index + 1)
    })
  }
  return rows
}

/** Gives required hidden attributes a value, also inside of embedded objects. */
function replaceHidden(record: object, attributes: Resource['attributes'], count: number, isHidden = false): object {
  const shown = new Map(Object.entries(record))
  for (const attribute of attributes) {
    const isMissing = attribute.required && (attribute.hidden || isHidden)
    if (attribute.kind === 'scalar') {
      if (isMissing && !attribute.primary) shown.set(attribute.name, standIn(attribute, count))
    } else if (attribute.kind === 'embedded') {
      const known = isMissing ? (attribute.array ? [] : {}) : shown.get(attribute.name)
      if (isObject(known) || Array.isArray(known)) shown.set(attribute.name, replaceInside(known, attribute, count, isMissing))
    }
  }
  return Object.fromEntries(shown)
}

function replaceInside(value: object, attribute: EmbeddedAttribute, count: number, isHidden: boolean): object {
  if (Array.isArray(value)) return value.map(each => (isObject(each) ? replaceInside(each, attribute, count, isHidden) : each) as object)
  const { attributes, variants } = attribute
  const attributesOfClass = variants?.byValue.get(String((value as Readonly<Record<string, unknown>>)[variants.discriminator]))
  return replaceHidden(value, attributesOfClass ?? attributes, count, isHidden)
}

/** For hidden values; the attribute may be unique. */
const STAND_INS: Readonly<Record<ScalarKind, (count: number, type: ScalarType) => unknown>> = {
  integer: count => count,
  float: count => count,
  bigint: String,
  decimal: shortDecimal,
  text: (count, { length = Infinity }) => {
    const text = `[secret ${count}]`
    return text.length <= length ? text : count.toString(36).slice(-length)
  },
  boolean: () => false,
  datetime: count => new Date(count * 1000).toISOString(),
  date: count => new Date(count * DAY_MS).toISOString().slice(0, 10),
  time: count => new Date(count * 1000).toISOString().slice(11, 19),
  uuid: () => crypto.randomUUID(),
  json: () => ({}),
  blob: count => Buffer.from(String(count)).toString('base64'),
  array: () => [],
  custom: count => `[secret ${count}]`,
  jsonValue: count => `[secret ${count}]`,
  any: count => `[secret ${count}]`,
}

function standIn({ type }: ScalarAttribute, count: number): unknown {
  return type.kind !== 'array' && type.items !== undefined ? type.items[0] : STAND_INS[type.kind](count, type)
}

/** With few digits before the point, digits after the point take the count. */
function shortDecimal(count: number, { precision, scale = 0 }: ScalarType): string {
  if (precision === undefined) return String(count)
  const places = Math.min(scale, 9)
  return ((count % 10 ** (precision - scale + places)) / 10 ** places).toFixed(places)
}
