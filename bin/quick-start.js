/**
 * Makes the start of a process shorter that loads MikroORM with SQLite. The command uses it; others say `node --import
 * mikro-rest/quick-start`. Node keeps the code that it compiles, and finds Kysely, which MikroORM loads as 254 modules, in one file that
 * the package brings: the same code, of the same version. Kysely of another version is loaded as usual. It must run before everything else,
 * so that there is one Kysely in the process. What modules of MikroORM import from each other by relative paths is not looked for: a path
 * there is that of a file. A package that they import by name is looked for once for each of MikroORM's packages, where Node looks for it
 * anew for each module.
 */
import { existsSync, readFileSync } from 'node:fs'
import module from 'node:module'

/** What each Kysely is loaded from: a dozen modules import it. */
const packed = new Map()

const RELATIVE = /^\.\.?\/.*\.js$/

/** The folder of a package of MikroORM: it may hold other packages, such as `pg`, which is no ES module. */
const MIKRO_ORM = /^.*\/node_modules\/@mikro-orm\/[^/]+\/(?!(?:.*\/)?node_modules\/)/

/** What the names are that modules of MikroORM import: by the folder of the package, the name and the conditions. */
const named = new Map()

module.enableCompileCache?.()
// Node before 22.15 has no such hooks, and starts as usual.
module.registerHooks?.({
  resolve(specifier, context, next) {
    const folder = MIKRO_ORM.exec(context.parentURL)?.[0]
    if (folder === undefined || Object.keys(context.importAttributes ?? {}).length > 0) return find(specifier, context, next)
    if (RELATIVE.test(specifier)) return { url: new URL(specifier, context.parentURL).href, format: 'module', shortCircuit: true }
    if (/^[.#/]/.test(specifier)) return find(specifier, context, next)
    const key = JSON.stringify([folder, specifier, context.conditions])
    let found = named.get(key)
    if (found === undefined) named.set(key, (found = { ...find(specifier, context, next), shortCircuit: true }))
    return found
  },
})

/** Finds a module as Node does, and Kysely in its one file. */
function find(specifier, context, next) {
  const found = next(specifier, context)
  if (specifier !== 'kysely') return found
  let url = packed.get(found.url)
  if (url === undefined) packed.set(found.url, (url = findPacked(found.url) ?? found.url))
  return { ...found, url }
}

/** Finds the file that holds the Kysely of a URL, whose version is in its name. */
function findPacked(url) {
  const root = /^file:.*\/kysely\/(?=dist\/index\.js$)/.exec(url)?.[0]
  if (root === undefined) return undefined
  const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'))
  const file = new URL(`../dist/packed/kysely-${version}.js`, import.meta.url)
  return existsSync(file) ? file.href : undefined
}
