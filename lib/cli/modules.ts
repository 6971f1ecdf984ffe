/**
 * Modules: loads the application's JavaScript and TypeScript, and tells what their exports are.
 */
import { createRequire, registerHooks } from 'node:module'
import { extname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { CommandError, oneLine } from './command-error.ts'

const EXTENSIONS: ReadonlySet<string> = new Set(['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts'])

/** Whether a file is a module, by its name. */
export function isModule(file: string): boolean {
  return EXTENSIONS.has(extname(file).toLowerCase())
}

/** Packages that the modules of a model use, and that whoever runs the command has: a project that is not installed yet works all the same. */
const OWN_PACKAGES = /^(?:mikro-rest|@mikro-orm\/(?:core|sql|sqlite))$/
const SELF = new URL(import.meta.url.endsWith('.ts') ? '../index.ts' : '../index.js', import.meta.url).href
let isLent = false

/** Lets modules find these packages here, where they do not find them in their own place. */
function sharePackages(): void {
  if (isLent) return
  isLent = true
  registerHooks({
    resolve(specifier, context, nextResolve) {
      if (!OWN_PACKAGES.test(specifier)) return nextResolve(specifier, context)
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

/** The exports of a module, by their names, whichever of the two module systems it is written in. `file` is an absolute path. */
export async function importModule(file: string): Promise<Readonly<Record<string, unknown>>> {
  const isTypeScript = /ts$/i.test(file)
  sharePackages()
  // Node strips types only: decorators, enums and paths without extension need tsx, and once Node has failed on a file it stays failed.
  const hasTsx = isTypeScript && (await registerTsx(file))
  try {
    return listExports((await import(pathToFileURL(file).href)) as Record<string, unknown>)
  } catch (error) {
    const advice = isTypeScript && !hasTsx ? ' The package "tsx" is not installed; it loads TypeScript that Node cannot read alone.' : ''
    throw new CommandError(`${file} cannot be loaded: ${oneLine(error)}${formatPlace(error)}.${advice}`)
  }
}

/** A CommonJS module has all its exports in its default one, and not all of them beside it. */
function listExports(namespace: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const main = namespace['default']
  if (typeof main !== 'object' || main === null || Object.getPrototypeOf(main) !== Object.prototype) return namespace
  return '__esModule' in main ? main : { ...main, ...namespace }
}

/** Lets Node import TypeScript through tsx, if the module's own project or this one has it. */
async function registerTsx(file: string): Promise<boolean> {
  for (const base of [file, import.meta.url]) {
    try {
      await import(pathToFileURL(createRequire(base).resolve('tsx')).href)
      return true
    } catch {
      // Not installed there.
    }
  }
  return false
}

/** ` (file:line)`: the only part of a stack that helps whoever wrote the module. */
function formatPlace(error: unknown): string {
  const stack = error instanceof Error ? (error.stack ?? '') : ''
  const found = /(?:file:\/\/|\(|at )(\/[^\s()]+?:\d+)(?::\d+)?\b/.exec(stack.replace(error instanceof Error ? error.message : '', ''))
  return found?.[1] === undefined || found[1].includes('node_modules') ? '' : ` (${found[1]})`
}

/**
 * The entities among some exports, in their order. A class that belongs to a schema counts as that schema, so that a module which exports
 * both does not name one entity twice.
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

// By shape and by registered symbols: the module may have a copy of MikroORM of its own, whose classes are not ours.
function isSchema(value: unknown): value is object {
  return typeof value === 'object' && value !== null && value.constructor?.name === 'EntitySchema' && 'meta' in value
}

/** Where MikroORM's decorators leave their mark on a class. */
const DECORATED = ['PATH_SYMBOL', 'META_SYMBOL'].map(name => Symbol.for(`@mikro-orm/core/MetadataStorage.${name}`))

/** MikroORM's own registry of classes that belong to a schema. */
function schemas(): ReadonlyMap<unknown, object> {
  const registry = (globalThis as Record<symbol, unknown>)[Symbol.for('@mikro-orm/core/EntitySchema.REGISTRY')]
  return registry instanceof Map ? registry : new Map<unknown, object>()
}
