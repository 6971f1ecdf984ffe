/**
 * Loads a project's TypeScript with the project's loader. Decorators with types from the compiler (`emitDecoratorMetadata`) need a loader
 * for types, as for MikroORM's command; all else goes through tsx.
 */
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire, registerHooks } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, parse } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { TsConfigResult } from 'get-tsconfig'
import { oneLine } from './command-error.ts'

/** Best first: only the code of tsc bears circular imports. */
const WITH_TYPES = {
  commonjs: ['ts-node/register/transpile-only', '@swc-node/register', '@oxc-node/core/register'],
  module: ['@oxc-node/core/register', '@swc-node/register/esm-register'],
} as const

/** A project for a bundler may have `"module": "esnext"`. */
const FOR_REQUIRE = { module: 'commonjs', moduleResolution: 'node', verbatimModuleSyntax: false }

/** A test for loaders, with a decorator. */
const PROBE = `const mark = (_target: unknown, _key: unknown): void => {}
export class Compiled { @mark text!: string }
`

type Load = (file: string) => Promise<Readonly<Record<string, unknown>>>

interface TypeScriptLoader {
  readonly load: Load
  /** Names the missing or failing package; begins with a blank, or is empty. */
  readonly advice: string
  /** For a decorated property without a type. */
  readonly typesAdvice: string
}

const loaders = new Map<string, TypeScriptLoader>()

export async function findTypeScriptLoader(file: string): Promise<TypeScriptLoader> {
  const config = findAbove(dirname(file), 'tsconfig.json')
  const key = config ?? dirname(file)
  const existing = loaders.get(key)
  if (existing !== undefined) return existing
  const loader = await findLoader(file, config)
  loaders.set(key, loader)
  return loader
}

async function findLoader(file: string, path: string | undefined): Promise<TypeScriptLoader> {
  const faults: string[] = []
  const config = path === undefined ? undefined : await readConfigs(path, faults)
  const isTyped = config?.config.compilerOptions?.emitDecoratorMetadata === true
  if (isTyped) {
    const load = await registerWithTypes(file, config.path, faults)
    if (load !== undefined) return { load, advice: '', typesAdvice: '' }
  }
  const isFound = await registerTsx(file, config?.path)
  const typesAdvice = isTyped
    ? ' The loader of TypeScript here (tsx) does not write these types: npm install --save-dev @oxc-node/core ' +
      'in the project, or name the compiled config, such as dist/mikro-orm.config.js.'
    : ` ${path ?? 'No tsconfig.json above it'} says "emitDecoratorMetadata": true${path === undefined ? '.' : ' nowhere.'}`
  const needed = isTyped ? '@oxc-node/core' : 'tsx'
  const missing = isFound ? '' : ` TypeScript that Node cannot read alone needs a package: npm install --save-dev ${needed} in the project.`
  const failed = faults.map(fault => ` ${fault}`).join('')
  return { load: importFile, advice: missing + failed, typesAdvice: typesAdvice + failed }
}

/** In a list of references, the config with types of decorators comes first. */
async function readConfigs(path: string, faults: string[]): Promise<TsConfigResult | undefined> {
  const { parseTsconfig } = await import('get-tsconfig')
  try {
    const main = { path, config: parseTsconfig(path) }
    const all = [main]
    for (const { path: reference } of main.config.references ?? []) {
      const named = join(dirname(path), reference)
      const other = named.endsWith('.json') ? named : join(named, 'tsconfig.json')
      if (existsSync(other)) all.push({ path: other, config: parseTsconfig(other) })
    }
    return all.find(({ config }) => config.compilerOptions?.emitDecoratorMetadata === true) ?? main
  } catch (error) {
    faults.push(`${path} cannot be read: ${endSentence(error)}`)
    return undefined
  }
}

/**
 * The first loader that works. A loader too old for the project's TypeScript fails at a file of the command: no code of the project runs
 * twice.
 */
async function registerWithTypes(file: string, config: string, faults: string[]): Promise<Load | undefined> {
  const isCommonJs = isOfCommonJs(file)
  for (const name of ['SWC_NODE_PROJECT', 'TS_NODE_PROJECT', 'OXC_TSCONFIG_PATH']) process.env[name] ??= config
  if (isCommonJs) process.env['TS_NODE_COMPILER_OPTIONS'] ??= JSON.stringify(optionsForRequire(file))
  for (const name of WITH_TYPES[isCommonJs ? 'commonjs' : 'module']) {
    const takeBack = keepExtensions(file)
    try {
      const isRequired = isCommonJs && !name.startsWith('@oxc-node')
      if (isRequired) createRequire(file)(name)
      else await importFrom(file, name)
      const load = isRequired ? requireFrom(file) : importFile
      await tryOut(load, isCommonJs)
      if (name.startsWith('ts-node')) requirePaths(file)
      return load
    } catch (error) {
      takeBack()
      const packageName = name
        .split('/')
        .slice(0, name.startsWith('@') ? 2 : 1)
        .join('/')
      if (findAbove(dirname(file), join('node_modules', packageName)) !== undefined)
        faults.push(`${packageName} is installed, and cannot be used: ${endSentence(error)}`)
    }
  }
  return undefined
}

function endSentence(error: unknown): string {
  return oneLine(error).replace(/[.:]?$/, '.')
}

async function tryOut(load: Load, isCommonJs: boolean): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'mikro-rest-loader-'))
  try {
    await writeFile(join(folder, 'package.json'), JSON.stringify({ type: isCommonJs ? 'commonjs' : 'module' }))
    await writeFile(join(folder, 'probe.ts'), PROBE)
    await load(join(folder, 'probe.ts'))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Returns a function to remove a loader's hooks for `require`: the next loader would get compiled code. */
function keepExtensions(file: string): () => void {
  // oxlint-disable-next-line typescript/no-deprecated -- the loaders change this object
  const { extensions } = createRequire(file)
  const before = { ...extensions }
  return () => {
    for (const name of Object.keys(extensions)) if (before[name] === undefined) delete extensions[name]
    Object.assign(extensions, before)
  }
}

/**
 * TypeScript 6 finds files without a bundler only with `ignoreDeprecations`, refused by other versions. Files in another folder than the
 * tsconfig.json need `rootDir`.
 */
function optionsForRequire(file: string): object {
  const manifest = 'typescript/package.json'
  const requireOfFile = createRequire(file)
  const { version } = (isThere(requireOfFile, manifest) ? requireOfFile(manifest) : {}) as { readonly version?: string }
  return version?.startsWith('6.') === true ? { ...FOR_REQUIRE, ignoreDeprecations: '6.0', rootDir: parse(file).root } : FOR_REQUIRE
}

/** ts-node leaves the names of `paths` unresolved. */
function requirePaths(file: string): void {
  const paths = 'tsconfig-paths/register'
  const requireOfFile = createRequire(file)
  if (isThere(requireOfFile, paths)) requireOfFile(paths)
}

function requireFrom(file: string): Load {
  const requireOfFile = createRequire(file)
  return async each => requireOfFile(each.startsWith('file:') ? fileURLToPath(each) : each) as Record<string, unknown>
}

async function importFile(file: string): Promise<Readonly<Record<string, unknown>>> {
  return (await import(file.startsWith('file:') ? file : pathToFileURL(file).href)) as Record<string, unknown>
}

/** Imports as a file of the project: `require.resolve` finds no package with exports for `import` alone. */
async function importFrom(file: string, name: string): Promise<void> {
  const parentURL = pathToFileURL(file).href
  const specifier = `mikro-rest:${name}?${parentURL}`
  const hooks = registerHooks({
    resolve: (requested, context, next) => (requested === specifier ? next(name, { ...context, parentURL }) : next(requested, context)),
  })
  try {
    await import(specifier)
  } finally {
    hooks.deregister()
  }
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

/**
 * By tsx of the project or of this package. tsx reads the path of the tsconfig.json at loading; a later process must not inherit the path.
 */
async function registerTsx(file: string, config: string | undefined): Promise<boolean> {
  const isOurs = config !== undefined && process.env['TSX_TSCONFIG_PATH'] === undefined
  if (isOurs) process.env['TSX_TSCONFIG_PATH'] = config
  try {
    for (const base of [file, import.meta.url]) {
      try {
        await import(pathToFileURL(createRequire(base).resolve('tsx')).href)
        return true
      } catch {
        // No tsx there.
      }
    }
    return false
  } finally {
    if (isOurs) delete process.env['TSX_TSCONFIG_PATH']
  }
}
