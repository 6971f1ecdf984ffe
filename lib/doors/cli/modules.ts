/** Loads the application's JavaScript and TypeScript modules, and finds entities among their exports. */
import { existsSync, readFileSync } from 'node:fs'
import { registerHooks, type ResolveFnOutput } from 'node:module'
import { extname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { CommandError, oneLine } from './command-error.ts'
import { findSyntaxFault, type SyntaxFault } from './syntax-fault.ts'
import { findTypeScriptLoader } from './typescript.ts'

const EXTENSIONS: ReadonlySet<string> = new Set(['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts'])

/** Whether a file is a module, by its extension. */
export function isModule(file: string): boolean {
  return EXTENSIONS.has(extname(file).toLowerCase())
}

/**
 * Packages that the command shares with the modules of a model. A project works before its own packages are installed; and one that has a
 * MikroORM of its own beside that of the command (`npx` installs another) has one copy in this process: classes of two would not know each
 * other.
 */
const OWN_PACKAGES = /^(?:mikro-rest|@mikro-orm\/(?:core|sql|sqlite|postgresql)(?:\/.+)?)$/
const SELF = new URL(import.meta.url.endsWith('.ts') ? '../../index.ts' : '../index.js', import.meta.url).href
let isLent = false
/** The files of the application that imports have led to. */
const met = new Set<string>()

/** Lets modules resolve these packages from the command. */
function sharePackages(): void {
  if (isLent) return
  isLent = true
  registerHooks({
    resolve(specifier, context, nextResolve) {
      if (!OWN_PACKAGES.test(specifier)) {
        const found = nextResolve(specifier, context)
        if (found.url.startsWith('file:') && !found.url.includes('/node_modules/')) met.add(found.url)
        return found
      }
      const own = (): ResolveFnOutput => nextResolve(specifier, { ...context, parentURL: import.meta.url })
      try {
        const theirs = nextResolve(specifier, context)
        return specifier === 'mikro-rest' ? theirs : sameOrTheirs(theirs, own)
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException
        if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') throw error
        return specifier === 'mikro-rest' ? { url: SELF, shortCircuit: true } : own()
      }
    },
  })
}

/** Returns the command's own where it is of the same MikroORM. */
function sameOrTheirs(theirs: ResolveFnOutput, own: () => ResolveFnOutput): ResolveFnOutput {
  const major = majorOf(theirs.url)
  if (major === undefined) return theirs
  try {
    const found = own()
    return majorOf(found.url) === major ? found : theirs
  } catch {
    // The command has none.
    return theirs
  }
}

const versions = new Map<string, string | undefined>()

/** The major version of the package that a resolved URL is in. */
function majorOf(url: string): string | undefined {
  const [folder] = /^.*\/node_modules\/@mikro-orm\/[^/]+\//.exec(url) ?? []
  if (folder === undefined) return undefined
  if (!versions.has(folder)) {
    const manifest = new URL('package.json', folder)
    const version = existsSync(manifest) ? (JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version?: string }).version : undefined
    versions.set(folder, version?.split('.')[0])
  }
  return versions.get(folder)
}

/** Imports a module of either module system and returns its exports by name. `file` is an absolute path. */
export async function importModule(file: string): Promise<Readonly<Record<string, unknown>>> {
  sharePackages()
  // Node only strips types: decorators, enums and paths without extension need a loader, and Node remembers a failed import.
  const loader = /ts$/i.test(file) ? await findTypeScriptLoader(file) : undefined
  try {
    return listExports(await (loader?.load(file) ?? import(pathToFileURL(file).href)))
  } catch (error) {
    const fault = findSyntaxFault(error, [...met].filter(isCode))
    if (fault !== undefined) throw new CommandError(`${file} cannot be loaded: ${describeFault(fault)}`)
    throw new CommandError(`${file} cannot be loaded: ${oneLine(error)}${formatPlace(error)}.${loader?.advice ?? ''}`)
  }
}

function isCode(url: string): boolean {
  return /\.[cm]?[jt]s$/i.test(url)
}

function describeFault({ file, line, text, manifest }: SyntaxFault): string {
  if (manifest === undefined) return `${text} (${file}:${line}).`
  // So `npm init` writes it.
  return `${text} (${file}:${line}). ${manifest} says "type": "commonjs": write "module" there, or call the file .mjs or .mts.`
}

/** Lists the exports of a module. A CommonJS module has all of them in its default export, and only some beside it. */
function listExports(namespace: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const main = namespace['default']
  if (typeof main !== 'object' || main === null || Object.getPrototypeOf(main) !== Object.prototype) return namespace
  return '__esModule' in main ? main : { ...main, ...namespace }
}

/** Formats ` (file:line)`, the part of a stack that helps the author of the module. */
function formatPlace(error: unknown): string {
  const stack = error instanceof Error ? (error.stack ?? '') : ''
  const found = /(?:file:\/\/|\(|at )(\/[^\s()]+?:\d+)(?::\d+)?\b/.exec(stack.replace(error instanceof Error ? error.message : '', ''))
  return found?.[1] === undefined || found[1].includes('node_modules') ? '' : ` (${found[1]})`
}

/**
 * Finds the entities among exports, in their order. A class with a schema counts as that schema, so that a module which exports both does
 * not name one entity twice.
 */
export function findEntities(values: Iterable<unknown>): object[] {
  const entities = new Set<object>()
  for (const value of values) {
    if (typeof value === 'function') {
      const schema = schemas().get(value)
      if (schema !== undefined) entities.add(schema)
      else if (DECORATED.some(symbol => Object.hasOwn(value, symbol))) entities.add(value)
    } else if (isSchema(value)) entities.add(value)
  }
  return [...entities]
}

// By shape and registered symbols, because the module may have its own copy of MikroORM with other classes.
function isSchema(value: unknown): value is object {
  return typeof value === 'object' && value !== null && value.constructor?.name === 'EntitySchema' && 'meta' in value
}

/** The symbols with which MikroORM's decorators mark a class. */
const DECORATED = ['PATH_SYMBOL', 'META_SYMBOL'].map(name => Symbol.for(`@mikro-orm/core/MetadataStorage.${name}`))

/** Returns MikroORM's registry of classes with a schema. */
function schemas(): ReadonlyMap<unknown, object> {
  const registry = (globalThis as Record<symbol, unknown>)[Symbol.for('@mikro-orm/core/EntitySchema.REGISTRY')]
  return registry instanceof Map ? registry : new Map<unknown, object>()
}
