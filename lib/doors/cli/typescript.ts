/**
 * TypeScript: lets Node load the TypeScript of a project, by what the project has for it. Classes whose decorators take their types from
 * the compiler (`emitDecoratorMetadata`) need a compiler that writes these types, as those do which MikroORM's own command looks for;
 * anything else goes through tsx.
 */
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** Loaders that write the types of decorated properties, best first: what tsc compiles bears imports in a circle, which swc does not. */
const WITH_TYPES = {
  commonjs: ['ts-node/register/transpile-only', '@swc-node/register'],
  module: ['@oxc-node/core/register', '@swc-node/register/esm-register'],
} as const

/** What has been found for the TypeScript of a project. */
interface TypeScriptLoader {
  /** Loads a file, by its path or URL. */
  readonly load: (file: string) => Promise<Readonly<Record<string, unknown>>>
  /** Whether there is one at all: Node alone strips types, and takes no decorators. */
  readonly isFound: boolean
}

const found = new Map<string, TypeScriptLoader>()

/** @param file the absolute path of a TypeScript module of the project */
export async function findTypeScriptLoader(file: string): Promise<TypeScriptLoader> {
  const folder = dirname(file)
  const config = findAbove(folder, 'tsconfig.json')
  const key = config ?? folder
  const known = found.get(key)
  if (known !== undefined) return known
  const wantsTypes = config !== undefined && emitsTypes(config)
  const loader = (wantsTypes ? await registerWithTypes(file, config) : undefined) ?? {
    load: importFile,
    isFound: await registerTsx(file),
  }
  found.set(key, loader)
  return loader
}

/** Whether the compiler is told to write the types of decorated properties, by this file or by those that it extends. */
function emitsTypes(config: string, depth = 0): boolean {
  if (!existsSync(config) || depth > 5) return false
  const text = readFileSync(config, 'utf8')
  const [, own] = /^\s*"emitDecoratorMetadata"\s*:\s*(true|false)/m.exec(text) ?? []
  if (own !== undefined) return own === 'true'
  const [, base] = /"extends"\s*:\s*"(\.[^"]+)"/.exec(text) ?? []
  return base !== undefined && emitsTypes(resolve(dirname(config), base.endsWith('.json') ? base : `${base}.json`), depth + 1)
}

async function importFile(file: string): Promise<Readonly<Record<string, unknown>>> {
  return (await import(file.startsWith('file:') ? file : pathToFileURL(file).href)) as Record<string, unknown>
}

/** Takes the first loader that is installed and goes with the project: one may be too old for its TypeScript. */
async function registerWithTypes(file: string, config: string): Promise<TypeScriptLoader | undefined> {
  const isCommonJs = isOfCommonJs(file)
  process.env['SWC_NODE_PROJECT'] ??= config
  process.env['TS_NODE_PROJECT'] ??= config
  for (const name of WITH_TYPES[isCommonJs ? 'commonjs' : 'module']) {
    try {
      const load = isCommonJs ? requireBy(file, name) : await importBy(file, name)
      return { load, isFound: true }
    } catch {
      // What no loader can do is said where a type is missing.
    }
  }
  return undefined
}

type Load = TypeScriptLoader['load']

function requireBy(file: string, loader: string): Load {
  const requireFrom = createRequire(file)
  requireFrom(loader)
  // The names of `paths`, which ts-node leaves as they are.
  const paths = 'tsconfig-paths/register'
  if (loader.startsWith('ts-node') && isThere(requireFrom, paths)) requireFrom(paths)
  return async each => requireFrom(each.startsWith('file:') ? fileURLToPath(each) : each) as Record<string, unknown>
}

async function importBy(file: string, loader: string): Promise<Load> {
  await import(pathToFileURL(createRequire(file).resolve(loader)).href)
  return importFile
}

function isThere(requireFrom: NodeJS.Require, name: string): boolean {
  try {
    requireFrom.resolve(name)
    return true
  } catch {
    return false
  }
}

function isOfCommonJs(file: string): boolean {
  if (/\.[cm]ts$/i.test(file)) return /\.cts$/i.test(file)
  const manifest = findAbove(dirname(file), 'package.json')
  return manifest === undefined || (JSON.parse(readFileSync(manifest, 'utf8')) as { readonly type?: string }).type !== 'module'
}

function findAbove(folder: string, name: string): string | undefined {
  const file = join(folder, name)
  if (existsSync(file)) return file
  const parent = dirname(folder)
  return parent === folder ? undefined : findAbove(parent, name)
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
