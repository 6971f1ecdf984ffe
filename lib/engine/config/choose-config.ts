/**
 * Chooses a config among the exports of `mikro-orm.config`, as MikroORM's command does. Throws TypeError for invalid exports, and a missing
 * or ambiguous context.
 */
import type { Options } from '@mikro-orm/core'
import { findNearest, formatHint } from '../../foundation/base/suggest.ts'
import { runtime } from '../../foundation/runtime/runtime.ts'

export type OrmConfig = Partial<Options> & Readonly<Record<string, unknown>>

type ModuleMembers = Readonly<Record<string, unknown>>
type ConfigFunction = (context: string) => unknown

const DEFAULT_CONTEXT = 'default'

/** @param context the wanted `contextName`; undefined: the only config, or in a list the default context */
export async function chooseConfig(given: unknown, context = runtime.environment['MIKRO_ORM_CONTEXT_NAME']): Promise<OrmConfig> {
  const exported = unwrap(await given)
  if (Array.isArray(exported)) return checkConfig(await chooseOf(exported, context ?? DEFAULT_CONTEXT))
  const config = checkConfig(typeof exported === 'function' ? await make(exported as ConfigFunction, context) : exported)
  const contextName = nameOf(config)
  if (context === undefined || contextName === context || (typeof exported === 'function' && !('contextName' in config))) return config
  throw new TypeError(`RestEngine.create: "config" is of the context ${JSON.stringify(contextName)}, and "${context}" is asked for.`)
}

/** Takes the default export of a whole module. */
function unwrap(exported: unknown): unknown {
  return isObject(exported) && exported[Symbol.toStringTag as never] === 'Module' && 'default' in exported ? exported['default'] : exported
}

function isObject(value: unknown): value is ModuleMembers {
  return typeof value === 'object' && value !== null
}

function nameOf(config: ModuleMembers): unknown {
  return 'contextName' in config ? config['contextName'] : DEFAULT_CONTEXT
}

async function chooseOf(list: readonly unknown[], context: string): Promise<unknown> {
  const each = await Promise.all(list)
  const [found, ...others] = each.filter(config => isObject(config) && nameOf(config) === context)
  if (others.length > 0) throw new TypeError(`RestEngine.create: "config" has more than one config of the context "${context}".`)
  if (found !== undefined) return found
  for (const item of each) {
    const made = typeof item === 'function' ? await make(item as ConfigFunction, context) : undefined
    if (isObject(made) && (!('contextName' in made) || made['contextName'] === context)) return made
  }
  const names = each.filter(isObject).map(config => String(nameOf(config)))
  throw new TypeError(
    `RestEngine.create: "config" has no config of the context "${context}".${formatHint(findNearest(context, names))} Its contexts ` +
      `are ${names.join(', ') || 'none'}; choose one by orm: { contextName: ${JSON.stringify(names[0] ?? 'name')} }.`,
  )
}

/** @throws TypeError for a class, probably an entity */
async function make(config: ConfigFunction, context: string = DEFAULT_CONTEXT): Promise<unknown> {
  if (/^class\b/.test(Function.prototype.toString.call(config)))
    throw new TypeError(
      `RestEngine.create: "config" has the class ${config.name}. It takes what defineConfig gives: { entities: [${config.name}] }.`,
    )
  return config(context)
}

function checkConfig(config: unknown): OrmConfig {
  if (!isObject(config) || Array.isArray(config))
    throw new TypeError(
      'RestEngine.create: "config" must be the config of MikroORM, as defineConfig gives it: an object, a list of them, ' +
        `a function or a promise of one. Got ${typeof config === 'object' ? JSON.stringify(config) : typeof config}.`,
    )
  if (typeof config['getAll'] === 'function' || typeof config['getMetadata'] === 'function')
    throw new TypeError(
      'RestEngine.create: "config" is of a MikroORM that is made already. Give the object that it was made of, which defineConfig gives.',
    )
  return config as OrmConfig
}
