/** Reads the options that change a database's tables (`--evolve`, `--rename`, `--fill`), and the word `diff`. */
import type { Evolving } from '../../records/database/evolving.ts'
import { FillText } from '../../records/database/fill-text.ts'
import { statSync } from 'node:fs'
import { misuse } from './command-error.ts'
import { isModule } from './modules.ts'
import { refuseOthers } from './option-values.ts'

export interface EvolveArguments {
  readonly evolve: boolean
  /** `{ note: { title: 'headline' }, entities: { trip: 'journey' } }`. */
  readonly renamed: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly fill: Readonly<Record<string, 'made-up' | Readonly<Record<string, FillText>>>>
  readonly drop: Evolving['drop']
  /** `undefined`: the model's, else 10. */
  readonly copies: number | undefined
  readonly diff: boolean
  readonly fresh: boolean
}

export const EVOLVE_OPTIONS = {
  evolve: { type: 'boolean', text: 'make the tables fit the model, with their rows; a copy of a file is made first' },
  rename: {
    type: 'string',
    value: 'NAMES',
    text: 'with --evolve: a new name of a property, note.title=headline, or of an entity, trip=journey; may be repeated',
  },
  fill: {
    type: 'string',
    value: 'VALUE',
    text: 'with --evolve: what rows get in a new property, trip.days=1, or made-up; may be repeated',
  },
  drop: {
    type: 'boolean',
    takesAny: true,
    text:
      'with --evolve: drop columns and tables that the model lacks and that hold nothing; ' +
      '--drop=note.body,trip drops what is named, --drop=all everything',
  },
  copies: { type: 'string', value: 'N', text: 'with --evolve: how many copies of the file stay in FILE.copies, the newest (default 10)' },
  fresh: { type: 'boolean', text: 'drop the tables of the model, with their rows, make them anew and seed them' },
} as const

interface TakenFiles {
  readonly diff: boolean
  readonly files: readonly string[]
  readonly config: string | undefined
}

/** Separates `diff` and the model from the files of `diff model.ts app.sqlite` or `model.ts app.sqlite`. */
export function takeModel(files: readonly string[], config: string | undefined): TakenFiles {
  const [first, second, ...others] = files
  if (first !== 'diff') {
    if (second === undefined || others.length > 0 || isModule(second) || !isModel(first!)) return { diff: false, files, config }
    if (config !== undefined) throw misuse(`The model of ${second} is ${first} or ${config}, not both: leave --config out.`)
    return { diff: false, files: [second], config: first }
  }
  if (config !== undefined && others.length > 0) throw misuse('diff takes the model as its first word: leave --config out.')
  if (second === undefined || others.length > 1) throw misuse('diff compares a model with a file: mikro-rest diff model.ts app.sqlite.')
  // The database may be the module's own.
  return others.length === 0 ? { diff: true, files: [second], config } : { diff: true, files: others, config: second }
}

function isModel(file: string): boolean {
  return isModule(file) || statSync(file, { throwIfNoEntry: false })?.isDirectory() === true
}

export function readEvolution(values: ReadonlyMap<string, readonly string[]>, diff: boolean): EvolveArguments {
  const renamed: Record<string, Record<string, string>> = {}
  for (const text of values.get('rename') ?? []) {
    const [, resource = 'entities', old, next] = /^(?:([^.=]+)\.)?([^.=]+)=([^.=]+)$/.exec(text) ?? []
    if (old === undefined || next === undefined)
      throw misuse(
        `--rename takes an old name and the new one, note.title=headline of a property, trip=journey of an entity, got "${text}".`,
      )
    renamed[resource] = { ...renamed[resource], [old]: next }
  }
  return {
    evolve: values.has('evolve'),
    renamed,
    fill: readFill(values.get('fill') ?? []),
    drop: readDrop(values.get('drop')),
    copies: toCopies(values.get('copies')?.at(-1)),
    diff,
    fresh: values.has('fresh'),
  }
}

function readFill(texts: readonly string[]): EvolveArguments['fill'] {
  const fill: Record<string, 'made-up' | Record<string, FillText>> = {}
  for (const text of texts) {
    if (text === 'made-up') {
      fill['*'] = text
      continue
    }
    const [, resource, property, value] = /^([^.=]+)\.([^.=]+)=(.*)$/s.exec(text) ?? []
    if (resource === undefined || property === undefined || value === undefined)
      throw misuse(`--fill takes a resource, its property and the value that rows get: trip.days=1, or made-up, got "${text}".`)
    fill[resource] = { ...(fill[resource] as object | undefined), [property]: new FillText(value) }
  }
  return fill
}

function toCopies(text: string | undefined): number | undefined {
  if (text === undefined || /^\d{1,6}$/.test(text)) return text === undefined ? undefined : Number(text)
  throw misuse(`--copies takes a number of copies, got "${text}".`)
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
  const { evolve, renamed, fill, drop, copies, diff, fresh } = args
  if (!evolve && !diff && Object.keys(renamed).length > 0) throw misuse('--rename goes with --evolve and diff.')
  if (!evolve && !diff && Object.keys(fill).length > 0) throw misuse('--fill goes with --evolve and diff.')
  if (!evolve && !diff && drop !== false) throw misuse('--drop goes with --evolve and diff.')
  if (!evolve && copies !== undefined) throw misuse('--copies goes with --evolve.')
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
