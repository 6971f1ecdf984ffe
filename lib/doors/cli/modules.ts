/** Imports the modules of the command line (model, config, seed), in TypeScript, too. Errors name file and line. */
import { existsSync, readFileSync } from 'node:fs'
import { registerHooks, type ResolveFnOutput } from 'node:module'
import { extname } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { CommandError, oneLine } from './command-error.ts'
import { findSyntaxFault, type SyntaxFault } from './syntax-fault.ts'
import { findTypeScriptLoader } from './typescript.ts'

const EXTENSIONS: ReadonlySet<string> = new Set(['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts'])

export function isModule(file: string): boolean {
  return EXTENSIONS.has(extname(file).toLowerCase())
}

/**
 * Packages that the command lends to modules of a model: a project works before its packages are installed, and all code has the same
 * classes of MikroORM (`npx` installs a copy).
 */
const OWN_PACKAGES = /^(?:mikro-rest|@mikro-orm\/(?:core|sql|sqlite|postgresql)(?:\/.+)?)$/
const LIB = new URL('../../', import.meta.url).href
const SELF = new URL(import.meta.url.endsWith('.ts') ? '../../index.ts' : '../index.js', import.meta.url).href
let isLent = false
/** Loaded modules outside of node_modules, in order. */
const reachedUrls = new Set<string>()

export function listReached(): string[] {
  return [...new Set([...reachedUrls].filter(url => !url.startsWith(LIB)).map(url => fileURLToPath(url.replace(/[?#].*$/s, ''))))]
}

function sharePackages(): void {
  if (isLent) return
  isLent = true
  registerHooks({
    resolve(specifier, context, nextResolve) {
      if (!OWN_PACKAGES.test(specifier)) {
        const found = nextResolve(specifier, context)
        if (found.url.startsWith('file:') && !found.url.includes('/node_modules/')) reachedUrls.add(found.url)
        return found
      }
      const findOwnCopy = (): ResolveFnOutput => nextResolve(specifier, { ...context, parentURL: import.meta.url })
      try {
        const foundForModule = nextResolve(specifier, context)
        return specifier === 'mikro-rest' ? foundForModule : preferOwnCopy(foundForModule, findOwnCopy)
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException
        if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') throw error
        return specifier === 'mikro-rest' ? { url: SELF, shortCircuit: true } : findOwnCopy()
      }
    },
  })
}

/** Prefers the command's copy of the same major version. */
function preferOwnCopy(foundForModule: ResolveFnOutput, findOwnCopy: () => ResolveFnOutput): ResolveFnOutput {
  const major = majorOf(foundForModule.url)
  if (major === undefined) return foundForModule
  try {
    const found = findOwnCopy()
    return majorOf(found.url) === major ? found : foundForModule
  } catch {
    return foundForModule
  }
}

const versions = new Map<string, string | undefined>()

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

export async function importModule(file: string): Promise<Readonly<Record<string, unknown>>> {
  sharePackages()
  // Node only strips types: decorators, enums and paths without extension need a loader. A second try is impossible: Node remembers a
  // failed import.
  const loader = /ts$/i.test(file) ? await findTypeScriptLoader(file) : undefined
  try {
    return listExports(await (loader?.load(file) ?? import(pathToFileURL(file).href)))
  } catch (error) {
    const fault = findSyntaxFault(error, [...reachedUrls].filter(isCode))
    if (fault !== undefined) throw new CommandError(`${file} cannot be loaded: ${describeFault(fault, loader?.advice ?? '')}`)
    throw new CommandError(`${file} cannot be loaded: ${oneLine(error)}${formatPlace(error)}.${loader?.advice ?? ''}`)
  }
}

function isCode(url: string): boolean {
  return /\.[cm]?[jt]s$/i.test(url)
}

function describeFault({ file, line, text, manifest, isPlain }: SyntaxFault, advice: string): string {
  if (manifest === undefined) return `${oneLine(new Error(text)).replace(/\.$/, '')} (${file}:${line}).${isPlain ? '' : advice}`
  // `npm init` writes "commonjs".
  return `${text} (${file}:${line}). ${manifest} says "type": "commonjs": write "module" there, or call the file .mjs or .mts.${advice}`
}

/** Lists exports, of a CommonJS module all. */
function listExports(namespace: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const main = namespace['default']
  if (typeof main !== 'object' || main === null || Object.getPrototypeOf(main) !== Object.prototype) return namespace
  return '__esModule' in main ? main : { ...main, ...namespace }
}

function formatPlace(error: unknown): string {
  const stack = error instanceof Error ? (error.stack ?? '') : ''
  const found = /(?:file:\/\/|\(|at )(\/[^\s()]+?:\d+)(?::\d+)?\b/.exec(stack.replace(error instanceof Error ? error.message : '', ''))
  return found?.[1] === undefined || found[1].includes('node_modules') ? '' : ` (${found[1]})`
}

/** Drops the class beside a schema of the class. */
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

// By shape and registered symbols: the module may have another MikroORM.
function isSchema(value: unknown): value is object {
  return typeof value === 'object' && value !== null && value.constructor?.name === 'EntitySchema' && 'meta' in value
}

const DECORATED = ['PATH_SYMBOL', 'META_SYMBOL'].map(name => Symbol.for(`@mikro-orm/core/MetadataStorage.${name}`))

function schemas(): ReadonlyMap<unknown, object> {
  const registry = (globalThis as Record<symbol, unknown>)[Symbol.for('@mikro-orm/core/EntitySchema.REGISTRY')]
  return registry instanceof Map ? registry : new Map<unknown, object>()
}
