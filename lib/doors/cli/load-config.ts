/** Makes engine options of an application's MikroORM config. */
import { createRequire } from 'node:module'
import { basename } from 'node:path'
import { chooseConfig, type OrmConfig } from '../../engine/config/choose-config.ts'
import { readConfig } from '../../engine/config/read-config.ts'
import { isOrmOption } from '../../engine/config/taken-options.ts'
import { isEngineOption } from '../../engine/options/check-options.ts'
import type { EngineOptions } from '../../engine/options/options.ts'
import { CommandError } from './command-error.ts'
import { findEntities } from './modules.ts'
import { findTypeScriptLoader } from './typescript.ts'

export interface ConfigArguments {
  /** Chooses among several configs. */
  readonly context?: string | undefined
  /** Replaces the config's own database. */
  readonly database?: string | undefined
  readonly migrates: boolean
  readonly ejects: boolean
}

/** `undefined`: the module exports no config, and no options with a config. */
export async function loadConfig(
  main: unknown,
  path: string,
  { context, database, migrates, ejects }: ConfigArguments,
): Promise<EngineOptions | undefined> {
  const isWhole = isConfig(main, isNamedConfig(path))
  if (!isWhole && (typeof main !== 'object' || main === null || !('config' in main) || main.config === undefined)) return undefined
  checkOrmVersion(path)
  if (ejects) throw new CommandError(`--eject writes a model as code: that of ${path} is the code of an application already.`, 2)
  const options: EngineOptions = isWhole ? { config: main as object } : (main as EngineOptions)
  const { orm = {} } = options
  const config = await chooseConfig(options.config, context ?? orm.contextName)
  return readConfig({
    ...options,
    config,
    ...(database === undefined ? {} : { database }),
    ...(migrates ? { schema: 'migrate' as const } : {}),
    orm: { ...(await forCommand(config, path)), ...orm, ...(config.contextName === undefined ? {} : { contextName: config.contextName }) },
  })
}

export function isNamedConfig(path: string): boolean {
  return /^(?:mikro-?)?orm\.config\.\w+$/i.test(basename(path))
}

/** Logs to standard error: standard output is for answers. The loader of a config in TypeScript loads the entities, too. */
async function forCommand(config: OrmConfig, path: string): Promise<NonNullable<EngineOptions['orm']>> {
  const { logger, loggerFactory, preferTs, dynamicImportProvider: ownProvider } = config
  const quiet =
    logger === undefined && loggerFactory === undefined ? { logger: (line: string) => void process.stderr.write(`${line}\n`) } : {}
  if (!/ts$/i.test(path)) return quiet
  const { load } = await findTypeScriptLoader(path)
  const dynamicImportProvider = (id: string): Promise<unknown> =>
    ownProvider === undefined || /\.[cm]?ts$/i.test(id) ? load(id) : ownProvider(id)
  return { ...quiet, preferTs: preferTs ?? true, dynamicImportProvider }
}

function isConfig(main: unknown, isNamed: boolean): boolean {
  if (Array.isArray(main)) return main.length > 0 && main.every(each => isConfig(each, isNamed))
  if (typeof main === 'function') return findEntities([main]).length === 0 && !/^class\b/.test(Function.prototype.toString.call(main))
  if (typeof main !== 'object' || main === null || findEntities([main]).length > 0) return false
  const names = Object.keys(main)
  const isEngines = names.some(name => isEngineOption(name) && !isOrmOption(name))
  return !isEngines && (isNamed || names.some(name => isOrmOption(name) && !isEngineOption(name)))
}

/** Refuses another MikroORM, with classes unknown to the engine. */
export function checkOrmVersion(path: string): void {
  let version: string
  try {
    version = (createRequire(path)('@mikro-orm/core/package.json') as { readonly version: string }).version
  } catch {
    // A project without MikroORM gets the command's.
    return
  }
  if (!version.startsWith('7.'))
    throw new CommandError(
      `${path} is of a project with MikroORM ${version}, and an engine takes the entities of MikroORM 7: ` +
        'https://mikro-orm.io/docs/upgrading-v6-to-v7 says how it becomes one.',
    )
}
