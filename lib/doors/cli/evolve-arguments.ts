/** Evolve arguments: the options that change a database's tables, and `diff`, which shows the changes. Every mistake is a usage error. */
import { FillText, type Evolving } from '../../records/database/evolving.ts'
import { misuse } from './command-error.ts'
import { refuseOthers } from './option-values.ts'

export interface EvolveArguments {
  readonly evolve: boolean
  /** New names of properties, by resource and old name. */
  readonly renamed: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly fill: Readonly<Record<string, Readonly<Record<string, FillText>>>>
  readonly drop: Evolving['drop']
  /** Whether to print the plan alone. */
  readonly diff: boolean
  /** Whether to make the tables anew, without rows. */
  readonly fresh: boolean
}

export const EVOLVE_OPTIONS = {
  evolve: { type: 'boolean', text: 'make the tables fit the model, with their rows; a copy of a file is made first' },
  rename: { type: 'string', value: 'NAMES', text: 'with --evolve: a property with a new name, note.title=headline; may be repeated' },
  fill: { type: 'string', value: 'VALUE', text: 'with --evolve: what rows get in a new property, trip.days=1; may be repeated' },
  drop: {
    type: 'boolean',
    takesAny: true,
    text:
      'with --evolve: drop columns and tables that the model lacks and that hold nothing; ' +
      '--drop=note.body,trip drops what is named, --drop=all everything',
  },
  fresh: { type: 'boolean', text: 'drop the tables of the model, with their rows, make them anew and seed them' },
} as const

/** Takes `diff` and the model off the files. */
export function takeDiff(files: readonly string[]): {
  readonly diff: boolean
  readonly files: readonly string[]
  readonly config: string | undefined
} {
  const [first, model, ...others] = files
  if (first !== 'diff') return { diff: false, files, config: undefined }
  if (model === undefined || others.length > 1) throw misuse('diff compares a model with a file: mikro-rest diff model.ts app.sqlite.')
  // A module may name its own database.
  return others.length === 0 ? { diff: true, files: [model], config: undefined } : { diff: true, files: others, config: model }
}

export function readEvolution(values: ReadonlyMap<string, readonly string[]>, diff: boolean): EvolveArguments {
  const renamed: Record<string, Record<string, string>> = {}
  for (const text of values.get('rename') ?? []) {
    const [, resource, old, next] = /^([^.=]+)\.([^.=]+)=([^.=]+)$/.exec(text) ?? []
    if (resource === undefined || old === undefined || next === undefined)
      throw misuse(`--rename takes a resource, the old name of its property and the new one: note.title=headline, got "${text}".`)
    renamed[resource] = { ...renamed[resource], [old]: next }
  }
  return {
    evolve: values.has('evolve'),
    renamed,
    fill: readFill(values.get('fill') ?? []),
    drop: readDrop(values.get('drop')),
    diff,
    fresh: values.has('fresh'),
  }
}

function readFill(texts: readonly string[]): EvolveArguments['fill'] {
  const fill: Record<string, Record<string, FillText>> = {}
  for (const text of texts) {
    const [, resource, property, value] = /^([^.=]+)\.([^.=]+)=(.*)$/s.exec(text) ?? []
    if (resource === undefined || property === undefined || value === undefined)
      throw misuse(`--fill takes a resource, its property and the value that rows get: trip.days=1, got "${text}".`)
    fill[resource] = { ...fill[resource], [property]: new FillText(value) }
  }
  return fill
}

function readDrop(texts: readonly string[] | undefined): Evolving['drop'] {
  if (texts === undefined) return false
  const names = texts.flatMap(text => text.split(',')).filter(text => text !== '')
  if (names.includes('all')) return 'all'
  return names.length === 0 ? true : names
}

interface Others {
  readonly readOnly: boolean
  readonly eject: string | undefined
  readonly save: boolean | 'sync'
  readonly watch: boolean
  readonly get: string | undefined
  readonly openapi: string | undefined
  readonly diagram: string | undefined
  readonly selfTest: boolean
  readonly check: string | undefined
}

export function checkEvolution(args: EvolveArguments & Others): void {
  const { evolve, renamed, fill, drop, diff, fresh } = args
  if (!evolve && !diff && Object.keys(renamed).length > 0) throw misuse('--rename goes with --evolve and diff.')
  if (!evolve && !diff && Object.keys(fill).length > 0) throw misuse('--fill goes with --evolve and diff.')
  if (!evolve && !diff && drop !== false) throw misuse('--drop goes with --evolve and diff.')
  if (diff && evolve) throw misuse('diff shows what --evolve would do: choose one of them.')
  if (fresh && (evolve || diff)) throw misuse('--fresh drops the rows that --evolve keeps: choose one of them.')
  const writing = { '--read-only': args.readOnly, '--eject': args.eject, '--save': args.save }
  const ending = {
    '--get': args.get,
    '--openapi': args.openapi,
    '--diagram': args.diagram,
    '--self-test': args.selfTest,
    '--check': args.check,
  }
  if (evolve) refuseOthers('--evolve changes the tables', writing)
  if (diff) refuseOthers('diff prints a plan and ends', { ...writing, ...ending, '--watch': args.watch })
  if (drop !== false) refuseOthers('--drop drops columns and tables once', { '--watch': args.watch })
  if (fresh) refuseOthers('--fresh drops rows, and serves', { ...writing, ...ending, '--watch': args.watch })
}
