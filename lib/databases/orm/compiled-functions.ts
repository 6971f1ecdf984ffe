/** Gives MikroORM functions of `npx mikro-orm compile`, where texts may not become code. Refuses missing functions. */
import { Utils, ValidationError, type Options } from '@mikro-orm/core'

type Functions = NonNullable<Options['compiledFunctions']>
type Maker = (...needed: unknown[]) => unknown

/** `hydrator-tag_27000-full-false`: the number is the process's. */
const KEY = /^(.+)_\d+((?:-\w+-(?:true|false))?)$/

const withoutNumber = (key: string): string => key.replace(KEY, '$1$2')

/** MikroORM copies plain objects, and would lose the proxy. */
class CompiledFunctions {
  readonly ['__version'] = Utils.getORMVersion()
}

/** @throws TypeError for functions of another MikroORM */
export function fitFunctions(given: Functions | undefined): Functions {
  const version = Utils.getORMVersion()
  const compiledBy = given?.['__version'] as unknown
  if (given !== undefined && compiledBy !== version)
    throw new TypeError(
      `RestEngine.create: "orm.compiledFunctions" are of MikroORM ${String(compiledBy)}, and ${version} runs: ` +
        'write them again by npx mikro-orm compile.',
    )
  const makers = new Map<string, Maker | 'ambiguous'>()
  for (const [key, maker] of Object.entries(given ?? {})) {
    if (key === '__version') continue
    const name = withoutNumber(key)
    makers.set(name, makers.has(name) ? 'ambiguous' : (maker as Maker))
  }
  return new Proxy(new CompiledFunctions(), {
    get: (own, name) => (Reflect.get(own, name) as unknown) ?? ((...needed: unknown[]) => make(String(name), makers, needed)),
  }) as unknown as Functions
}

function make(key: string, makers: ReadonlyMap<string, Maker | 'ambiguous'>, needed: readonly unknown[]): unknown {
  const maker = makers.get(withoutNumber(key))
  if (typeof maker === 'function' && maker.length === needed.length) return maker(...needed)
  const reason =
    makers.size === 0
      ? ''
      : maker === 'ambiguous'
        ? ` "orm.compiledFunctions" has two of ${withoutNumber(key)}.`
        : ` "orm.compiledFunctions" does not have ${withoutNumber(key)} of these entities: write them again by npx mikro-orm compile.`
  return (): never => {
    const text =
      "MikroORM's unit of work generates functions, and the policy of the page or process forbids it: allow 'unsafe-eval' " +
      `(Content-Security-Policy: script-src), or give "orm.compiledFunctions" (npx mikro-orm compile).${reason} ` +
      'Reads, and writes by statements, need no permission: see "engine.explain".'
    // The engine takes other errors for errors of an entity's constructor.
    throw new ValidationError(text)
  }
}
