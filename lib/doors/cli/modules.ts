/** Loads the application's JavaScript and TypeScript modules, and finds entities among their exports. */
import { createRequire, registerHooks } from 'node:module'
import { extname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { CommandError, oneLine } from './command-error.ts'
import { findSyntaxFault } from './syntax-fault.ts'
import type { SyntaxFault } from './syntax-fault.ts'

const EXTENSIONS: ReadonlySet<string> = new Set(['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts'])

/** Whether a file is a module, by its extension. */
export function isModule(file: string): boolean {
  return EXTENSIONS.has(extname(file).toLowerCase())
}

/** Packages that the command shares with the modules of a model, so that a project works before its own packages are installed. */
const OWN_PACKAGES = /^(?:mikro-rest|@mikro-orm\/(?:core|sql|sqlite))$/
const SELF = new URL(import.meta.url.endsWith('.ts') ? '../../index.ts' : '../index.js', import.meta.url).href
let isLent = false
/** The files of the application that imports have led to. */
const met = new Set<string>()

/** Lets modules resolve these packages from the command, where they do not find their own. */
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
      try {
        return nextResolve(specifier, context)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
        return specifier === 'mikro-rest'
          ? { url: SELF, shortCircuit: true }
          : nextResolve(specifier, { ...context, parentURL: import.meta.url })
      }
    },
  })
}

/** Imports a module of either module system and returns its exports by name. `file` is an absolute path. */
export async function importModule(file: string): Promise<Readonly<Record<string, unknown>>> {
  const isTypeScript = /ts$/i.test(file)
  sharePackages()
  // Node only strips types: decorators, enums and paths without extension need tsx, and Node remembers a failed import.
  const hasTsx = isTypeScript && (await registerTsx(file))
  try {
    return listExports((await import(pathToFileURL(file).href)) as Record<string, unknown>)
  } catch (error) {
    const fault = findSyntaxFault(error, [...met].filter(isCode))
    if (fault !== undefined) throw new CommandError(`${file} cannot be loaded: ${describeFault(fault)}`)
    const advice = isTypeScript && !hasTsx ? ' The package "tsx" is not installed; it loads TypeScript that Node cannot read alone.' : ''
    throw new CommandError(`${file} cannot be loaded: ${oneLine(error)}${formatPlace(error)}.${advice}`)
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

/** Lets Node import TypeScript through tsx, if the module's project or this one has it. */
async function registerTsx(file: string): Promise<boolean> {
  for (const base of [file, import.meta.url]) {
    try {
      await import(pathToFileURL(createRequire(base).resolve('tsx')).href)
      return true
    } catch {
      // tsx is not installed there.
    }
  }
  return false
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
