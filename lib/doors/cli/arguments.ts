/** Parses and checks the command line. A mistake ends with exit code 2, and a sentence with the nearest option. */
import { parseArgs } from 'node:util'
import { formatHint, findNearest } from '../../foundation/base/suggest.ts'
import { checkEvolution, EVOLVE_OPTIONS, readEvolution, takeModel, type EvolveArguments } from './evolve-arguments.ts'
import { toBase, toFile, toHost, toHosts, toMilliseconds, toPort, refuseOthers } from './option-values.ts'
import { checkTrial, readTrial, type TrialArguments } from './trial-arguments.ts'
import { misuse, type CommandError } from './command-error.ts'
import { checkGrammar, toGrammar, type Grammar } from './other-grammar.ts'

export interface CommandArguments extends TrialArguments, EvolveArguments {
  /** FILE of `--help`. `undefined`: the sample model. */
  readonly file: string | undefined
  readonly port: number
  readonly host: string
  readonly config: string | undefined
  /** Chooses among the configs of a MikroORM config. */
  readonly context: string | undefined
  readonly migrate: boolean
  readonly base: string | undefined
  /** Empty: paths have no version. */
  readonly versions: readonly string[] | undefined
  readonly readOnly: boolean
  /** Hidden attributes: `name` or `table.name`. */
  readonly hide: readonly string[]
  readonly as: Grammar | undefined
  readonly static: string | undefined
  readonly cors: readonly string[]
  readonly corsCredentials: boolean
  /** Names for `Host` beside the local names; true: all. */
  readonly allowedHosts: readonly string[] | true
  /** In milliseconds, for every request. */
  readonly delay: number
  /** Milliseconds; default: the model's, else 5,000. */
  readonly timeout: number | undefined
  /** The workbench and the test controls. `undefined`: only on a loopback address. */
  readonly workbench: boolean | undefined
  readonly serverTiming: boolean
  readonly explain: boolean
  readonly watch: boolean
  /** `sync`: answers wait until the file has the changes. */
  readonly save: boolean | 'sync'
  readonly strict: boolean
  readonly open: boolean
  readonly required: boolean
  /** The list of users: `users`, `users.nickname`. */
  readonly login: string | undefined
  readonly hash: boolean
  readonly id: string | undefined
  readonly quiet: boolean
  /** The file to write; empty: standard output. */
  readonly openapi: string | undefined
  /** A `.svg` or `.mmd` file; empty: standard output. */
  readonly diagram: string | undefined
  readonly eject: string | undefined
  readonly get: string | undefined
  readonly help: boolean
  readonly showsVersion: boolean
}

interface Option {
  readonly type: 'string' | 'boolean'
  readonly short?: string
  readonly value?: string
  /** Values behind "=". */
  readonly values?: readonly string[]
  readonly takesAny?: boolean
  readonly isOptional?: boolean
  readonly text: string
}

const OPTIONS = {
  port: { type: 'string', short: 'p', value: 'PORT', text: 'port to listen on; 0 takes any free one (default 3000)' },
  host: { type: 'string', value: 'HOST', text: 'address to listen on (default 127.0.0.1)' },
  config: {
    type: 'string',
    value: 'MODULE',
    text: 'module with the model of a SQLite FILE or a PostgreSQL database, or with options for a JSON FILE',
  },
  context: { type: 'string', value: 'NAME', text: 'contextName of the config, where a mikro-orm.config.ts has several' },
  migrate: { type: 'boolean', text: 'run the migrations of the MikroORM config first, which make the tables' },
  seed: {
    type: 'string',
    value: 'FILE',
    text: 'JSON file or module with records for empty tables, { users: [{ ... }] }; or a seeder: its module, or its class by name',
  },
  base: { type: 'string', value: 'PATH', text: 'path before the version, such as /api' },
  'api-version': { type: 'string', value: 'NAME', text: 'segment before the resource in paths; may be repeated (default v1)' },
  'no-version': { type: 'boolean', text: 'serve without a version in paths: /users' },
  as: { type: 'string', value: 'NAME', text: 'answer as json-server, postgrest or supabase does; pages of any origin read' },
  static: { type: 'string', value: 'DIR', text: 'serve the files of this folder beside the API: a front end; API paths come first' },
  ...EVOLVE_OPTIONS,
  'read-only': { type: 'boolean', text: 'answer POST, PUT, PATCH and DELETE with 405; a file is left as it is' },
  hide: {
    type: 'string',
    value: 'NAME',
    text: 'do not show this attribute, nor filter or sort by it: password or users.password; may be repeated',
  },
  cors: { type: 'string', value: 'ORIGIN', text: 'let pages of this origin read the answers; may be repeated; * is all' },
  'cors-credentials': { type: 'boolean', text: 'let pages of the origins of --cors send cookies' },
  'allow-host': { type: 'string', value: 'NAME', text: 'answer to this name too; may be repeated; * is all (default local ones)' },
  delay: { type: 'string', value: 'MS', text: 'delay every request by this many milliseconds (default 0)' },
  timeout: { type: 'string', value: 'MS', text: 'milliseconds that a request may take; 503 then (default 5000)' },
  workbench: {
    type: 'boolean',
    values: ['off'],
    text: 'serve the workbench at /_ui and the test controls at /_test/...; a loopback address has them unless --workbench=off',
  },
  'server-timing': { type: 'boolean', text: 'send a header with the duration of each stage in every answer' },
  explain: { type: 'boolean', text: 'print the SQL of each request, its query plans and missing indexes' },
  watch: { type: 'boolean', text: 'start again when the module, the JSON file or the seed changes' },
  save: { type: 'boolean', values: ['sync'], text: 'write changes back to the JSON FILE; --save=sync: before each answer' },
  strict: { type: 'boolean', text: 'refuse a JSON FILE with odd data, instead of printing notes' },
  open: { type: 'boolean', text: 'take new attributes in POST, PUT and PATCH of a JSON FILE' },
  required: { type: 'boolean', text: 'require in POST what every record of a collection of a JSON FILE has' },
  login: { type: 'string', value: 'NAME', text: 'let the records of this list of a JSON FILE log in: users; users.nickname says by what' },
  hash: { type: 'boolean', text: 'with --login: hash the passwords of the JSON FILE, instead of comparing them as they are' },
  id: { type: 'string', value: 'NAME', text: 'key that identifies the records of a JSON FILE (default id)' },
  quiet: { type: 'boolean', text: 'do not print a line for every request' },
  openapi: {
    type: 'string',
    value: 'OUT',
    isOptional: true,
    text: 'write the OpenAPI document of the first version into OUT, and end (default standard output)',
  },
  diagram: {
    type: 'string',
    value: 'OUT',
    isOptional: true,
    text: 'draw the model into OUT, a .svg or .mmd (Mermaid) file, and end (default standard output, as .mmd)',
  },
  'self-test': { type: 'boolean', text: 'try the API with generated requests, good and bad, on a copy of the data; --seed N repeats' },
  runs: { type: 'string', value: 'N', text: 'how often --self-test tries each operation (default 3)' },
  check: { type: 'string', value: 'URL', text: 'compare the API with the real backend at this address, by reading alone, and end' },
  journal: { type: 'string', value: 'JSON', text: 'file with the requests that --check replays (default those of a self-test)' },
  writes: { type: 'boolean', text: 'let --check replay the writing requests of --journal, too: they change the real backend' },
  header: { type: 'string', value: 'LINE', text: "header of the requests of --self-test or --check: 'Name: value'; may be repeated" },
  eject: { type: 'string', value: 'DIR', text: 'write the model as a project of modules into DIR' },
  get: { type: 'string', value: 'PATH', text: 'answer one GET request on standard output, without a socket' },
  help: { type: 'boolean', short: 'h', text: 'show this text' },
  version: { type: 'string', short: 'v', isOptional: true, text: 'show the version of the program' },
} as const satisfies Record<string, Option>

type OptionName = keyof typeof OPTIONS

const NAMES = Object.keys(OPTIONS) as OptionName[]

const FORMER: Readonly<Record<string, string>> = {
  'test-controls': '--workbench',
  'no-workbench': '--workbench=off',
  postgres: 'mikro-rest pglite:DIR --config MODULE',
}

const GROUPS: readonly (readonly [title: string, names: readonly OptionName[]])[] = [
  ['The address', ['port', 'host', 'base', 'api-version', 'no-version', 'as', 'static', 'cors', 'cors-credentials', 'allow-host']],
  [
    'The data',
    ['config', 'context', 'migrate', 'seed', 'evolve', 'rename', 'fill', 'drop', 'copies', 'fresh', 'read-only', 'hide', 'watch'],
  ],
  ['A JSON file', ['save', 'open', 'required', 'login', 'hash', 'id', 'strict']],
  ['What is printed and sent', ['quiet', 'explain', 'server-timing', 'delay', 'timeout', 'workbench']],
  ['Instead of serving', ['get', 'openapi', 'diagram', 'eject']],
  ['Trying and comparing', ['self-test', 'runs', 'check', 'journal', 'writes', 'header']],
  ['The program', ['help', 'version']],
]

const WIDTH = 100
const MARGIN = 24

export function formatHelp(): string {
  const groups = GROUPS.map(([title, names]) => {
    const rows = names.flatMap(name => {
      const { value, text, short } = OPTIONS[name] as Option
      const head = `  ${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`
      const [first = '', ...others] = wrap(text, WIDTH - MARGIN)
      const lines = head.length < MARGIN - 1 ? [head.padEnd(MARGIN) + first] : [head, ' '.repeat(MARGIN) + first]
      return [...lines, ...others.map(line => ' '.repeat(MARGIN) + line)]
    })
    return [`${title}:`, ...rows, ''].join('\n')
  })
  return [
    'Usage: mikro-rest [FILE] [options]',
    '       mikro-rest MODEL FILE [options]',
    '       mikro-rest diff MODEL FILE [--rename NAMES] [--fill VALUE] [--drop]',
    '',
    'Serves a REST API over MikroORM entities. FILE is one of:',
    ...FILES.flatMap(([what, text]) => {
      const [first = '', ...others] = wrap(text, WIDTH - MARGIN)
      return [`  ${what}`.padEnd(MARGIN) + first, ...others.map(line => ' '.repeat(MARGIN) + line)]
    }),
    '',
    ...groups,
  ].join('\n')
}

const FILES: readonly (readonly [what: string, text: string])[] = [
  [
    'a module, a folder',
    'engine options, the config of MikroORM or entities: ' +
      'the default export of a .js .mjs .cjs .ts or .mts, or its exports; of a folder mikro-orm.config or the index',
  ],
  ['a JSON file', 'an object of collections, { "users": [{ "id": 1 }] }, whose model is inferred'],
  ['a SQLite file', 'as it is, or with the model in --config; :memory: with it is none'],
  ['a recording', 'a .mikro of engine.record: the data before a failed test, and its requests'],
  ['postgres://, pglite:', 'a PostgreSQL database, postgres://user@host/database or pglite:DIR, likewise'],
  ['(none)', 'a sample model, in memory'],
]

function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

function readTokens(argv: readonly string[]): {
  readonly values: ReadonlyMap<OptionName, readonly string[]>
  readonly files: readonly string[]
} {
  const values = new Map<OptionName, string[]>()
  const files: string[] = []
  // Not strict: errors of parseArgs suggest no names.
  for (const token of parseArgs({ args: [...argv], options: OPTIONS, strict: false, allowPositionals: true, tokens: true }).tokens) {
    if (token.kind === 'positional') files.push(token.value)
    if (token.kind !== 'option') continue
    const { name, rawName } = token
    if (!isOptionName(name)) throw unknownOption(rawName)
    const { values: known = [], takesAny = false } = OPTIONS[name] as Option
    if (OPTIONS[name].type === 'boolean' && token.value !== undefined && !takesAny && !known.includes(token.value))
      throw misuse(`${rawName} takes no value${known.map(value => ` but "${value}"`).join('')}, got "${token.value}".`)
    // `--seed --port 80` has no value for the seed.
    const mayLack = token.value === undefined && (OPTIONS[name] as Option).isOptional === true
    if (
      OPTIONS[name].type === 'string' &&
      !mayLack &&
      (token.value === undefined || (!token.inlineValue && /^-(?!\d)/.test(token.value)))
    ) {
      throw misuse(`${rawName} needs a value: ${rawName} ${(OPTIONS[name] as Option).value ?? ''}.`)
    }
    values.set(name, [...(values.get(name) ?? []), token.value ?? ''])
  }
  return { values, files }
}

export function parseArguments(argv: readonly string[]): CommandArguments {
  const { values, files: given } = readTokens(argv)
  const last = (name: OptionName): string | undefined => values.get(name)?.at(-1)
  const { diff, files, config } = takeModel(given, last('config'))
  return check({
    file: toFile(files),
    port: toPort(last('port') ?? '3000'),
    host: toHost(last('host') ?? '127.0.0.1'),
    config,
    context: last('context'),
    migrate: values.has('migrate'),
    ...readTrial(values),
    ...readEvolution(values, diff),
    base: toBase(last('base')),
    versions: toVersions(values.get('api-version') ?? [], values.has('no-version')),
    readOnly: values.has('read-only'),
    hide: values.get('hide') ?? [],
    as: toGrammar(last('as')),
    static: last('static'),
    cors: values.get('cors') ?? (last('as') === undefined ? [] : ['*']),
    corsCredentials: values.has('cors-credentials'),
    allowedHosts: toHosts(values.get('allow-host') ?? []),
    delay: toMilliseconds('--delay', last('delay') ?? '0', 0),
    timeout: values.has('timeout') ? toMilliseconds('--timeout', last('timeout')!, 1) : undefined,
    workbench: values.has('workbench') ? last('workbench') !== 'off' : undefined,
    serverTiming: values.has('server-timing'),
    explain: values.has('explain'),
    watch: values.has('watch'),
    save: last('save') === 'sync' ? 'sync' : values.has('save'),
    strict: values.has('strict'),
    open: values.has('open'),
    required: values.has('required'),
    login: last('login'),
    hash: values.has('hash'),
    id: last('id'),
    quiet: values.has('quiet'),
    get: last('get'),
    openapi: last('openapi'),
    diagram: last('diagram'),
    eject: last('eject'),
    help: values.has('help'),
    showsVersion: showsVersion(last('version')),
  })
}

function check(args: CommandArguments): CommandArguments {
  if (args.get !== undefined && !args.get.startsWith('/')) throw misuse(`--get takes a path that begins with "/", got "${args.get}".`)
  if (args.get !== undefined && args.watch) throw misuse('--get answers one request and ends: it does not go with --watch.')
  if (args.explain && args.quiet && args.get === undefined)
    throw misuse('--explain prints below the line of each request, which --quiet leaves out: choose one of them.')
  if (args.static !== undefined) {
    const { get, openapi, diagram, eject, check: other } = args
    const [ending] = Object.entries({ get, openapi, diagram, eject, check: other }).find(([, value]) => value !== undefined) ?? [
      args.selfTest ? 'self-test' : undefined,
    ]
    if (ending !== undefined) throw misuse(`--static serves files beside the API: it does not go with --${ending}, which serves nothing.`)
  }
  if (args.hash && args.login === undefined) throw misuse('--hash goes with --login.')
  if (args.login !== undefined && args.eject !== undefined) throw misuse('--eject writes a model without --login.')
  if (args.corsCredentials && (args.cors.length === 0 || args.cors.some(origin => origin === '*' || origin === 'null')))
    throw misuse(
      '--cors-credentials lets pages send the cookies of the user: name their origins with --cors, as in --cors http://localhost:5173.',
    )
  checkGrammar(args)
  checkDescription(args)
  checkEvolution(args)
  checkTrial(args, {
    '--get': args.get,
    '--eject': args.eject,
    '--openapi': args.openapi,
    '--diagram': args.diagram,
    '--watch': args.watch,
    '--save': args.save !== false,
  })
  if (args.eject !== undefined) {
    refuseOthers('--eject writes a project and ends', {
      '--get': args.get,
      '--watch': args.watch,
      '--save': args.save,
      '--read-only': args.readOnly,
      '--explain': args.explain,
      '--seed': args.seed,
    })
    if (args.eject === '') throw misuse('--eject needs a folder.')
  }
  if (args.save !== false)
    refuseOthers('--save writes what clients change to the JSON FILE', {
      '--get': args.get,
      '--read-only': args.readOnly,
      '--seed': args.seed,
    })
  return args
}

function checkDescription({ openapi, diagram, get, eject, watch, save }: CommandArguments): void {
  if (openapi === undefined && diagram === undefined) return
  refuseOthers(openapi === undefined ? '--diagram writes a diagram and ends' : '--openapi writes a document and ends', {
    '--diagram': openapi !== undefined && diagram,
    '--get': get,
    '--eject': eject,
    '--watch': watch,
    '--save': save,
  })
  if (diagram !== undefined && diagram !== '' && !/\.(?:svg|mmd)$/.test(diagram))
    throw misuse(`--diagram takes a file whose name ends with .svg or .mmd (Mermaid), got "${diagram}".`)
}

function showsVersion(name: string | undefined): boolean {
  if (name === undefined || name === '') return name === ''
  throw misuse(`--version shows the version of the program, and takes no value, got "${name}". Did you mean "--api-version ${name}"?`)
}

function toVersions(versions: readonly string[], hasNone: boolean): readonly string[] | undefined {
  if (hasNone && versions.length > 0) throw misuse('--no-version leaves the version out of paths: it does not go with --api-version.')
  const wrong = versions.find(version => !/^[\w.-]+$/.test(version))
  if (wrong !== undefined) throw misuse(`--api-version takes a segment of a path, such as v1, got "${wrong}".`)
  return hasNone || versions.length > 0 ? versions : undefined
}

function isOptionName(name: string): name is OptionName {
  return Object.hasOwn(OPTIONS, name)
}

function unknownOption(rawName: string): CommandError {
  if (/^-\w$/.test(rawName)) {
    const names = NAMES.filter(name => name.startsWith(rawName.slice(1))).map(name => `--${name}`)
    return misuse(`Unknown option ${rawName}.${names.length === 0 ? '' : ` These begin so: ${names.join(', ')}.`} See --help.`)
  }
  const given = rawName.replace(/^-+/, '')
  const name = findNearest(given, NAMES)
  const meant = Object.hasOwn(FORMER, given) ? FORMER[given] : name === undefined ? undefined : `--${name}`
  return misuse(`Unknown option ${rawName}.${formatHint(meant)} See --help.`)
}
