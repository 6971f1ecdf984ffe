/** Record: writes a recording of a failed test. Throws TypeError for invalid options, and errors of the file system. */
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { checkNames } from '../../foundation/base/suggest.ts'
import type { Resource } from '../../model/model.ts'
import type { EngineParts } from '../pipeline/assemble.ts'
import type { EngineInternals } from '../pipeline/engine-internals.ts'
import { formatReason } from '../pipeline/unavailable.ts'
import type { CheckedOptions } from '../pipeline/options.ts'
import { copyRows, type CreateCopy } from './copy-rows.ts'
import { MAX_DATA, writeRecording, type RecordedFacts, type RecordedRequest, type RecordedResource } from './recording-file.ts'
import { describeEntities } from './recorded-model.ts'
import type { RecordOptions, Recorded } from './recorded.ts'

/** Newest requests that keep statements. */
const WITH_STATEMENTS = 100
/** Maximum characters of the runner's texts. */
const MAX_TEXT = 10_000

/** Plain options that affect answers. */
const OPTIONS = ['base', 'versions', 'createdStatus', 'deletedStatus', 'validationStatus', 'etag', 'forms'] as const

export async function record(internals: EngineInternals, path: string, options: RecordOptions, create: CreateCopy): Promise<Recorded> {
  if (typeof path !== 'string' || path === '') throw new TypeError('engine.record: the path must be that of a file: "failed.mikro".')
  checkNames(options, ['test', 'failure'], 'engine.record')
  for (const name of ['test', 'failure'] as const)
    if (options[name] !== undefined && typeof options[name] !== 'string') throw new TypeError(`engine.record: "${name}" must be a string.`)
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

/** Returns data from the beginning of the test, or the reason why data are missing. */
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

/** Names code that the recording lacks. */
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
