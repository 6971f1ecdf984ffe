/**
 * Page modules: what stands in the place of modules of Node, and of files of lib/ that use Node, in a bundle for pages. Asynchronous
 * functions of lib/ become generators there (lib/foundation/page/carried-work.ts).
 */
import { readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { transform, type Plugin } from 'esbuild'

/** Files of lib/, each with the file of a page that has the same exports. */
const TWINS: Readonly<Record<string, string>> = {
  'databases/sqlite/driver/open-raw.ts': 'databases/sqlite/wasm/open-wasm.ts',
  'doors/server/intercept/intercept.ts': 'doors/page/intercept-page.ts',
  'engine/testing/faker-text.ts': 'engine/testing/page-faker-text.ts',
  'foundation/runtime/assertion-error.ts': 'foundation/page/page-assertion-error.ts',
  'foundation/runtime/runtime.ts': 'foundation/page/page-runtime.ts',
  'foundation/runtime/secrets.ts': 'foundation/page/page-secrets.ts',
}

/** Of lib/, for files, servers and Node alone: a page's databases are new, and in memory. Loading one is refused. */
const NEVER_IN_PAGES = [
  'databases/postgres/',
  'databases/sqlite/database/check-file.ts',
  'databases/sqlite/database/file-identity.ts',
  'databases/sqlite/database/open-read-only.ts',
  'databases/sqlite/evolve/',
  'databases/sqlite/introspect/',
  'databases/sqlite/schema/compare-table.ts',
  'databases/sqlite/schema/note-missing.ts',
  'doors/engines/',
  'engine/recording/',
]

export function isRefused(path: string): boolean {
  return NEVER_IN_PAGES.some(place => path.includes(`/lib/${place}`))
}

const MIKRO_ORM = 'databases/sqlite/orm/page-mikro-orm.ts'

const CARRIED = 'foundation/page/carried-work.ts'

/** What esbuild puts before a file whose asynchronous functions become generators. */
const HELPER = /^var __async = \(__this, __arguments, generator\) => \{\n[^]*?\n\};\n/m

const why = (what: string): string => `${what} needs Node, and the engine runs in a page.`

/** Functions of a module that a file imports, and perhaps never calls. */
const refuseCalls = (what: string): string =>
  `const refuse = name => { throw new Error(${JSON.stringify(`${what}.`)} + name + ${JSON.stringify(why(''))}) }\n` +
  // esbuild copies the members, and keeps what is inherited.
  'const members = { get: (_, name) => typeof name === "string" && name !== "__esModule" ? () => refuse(name) : undefined }\n' +
  'module.exports = Object.create(new Proxy({}, members))'

const refuseLoading = (what: string): string => `throw new Error(${JSON.stringify(why(what))})`

/** @param root the repository */
export function pageModules(root: string): Plugin {
  const lib = join(root, 'lib')
  return {
    name: 'page modules',
    setup({ onResolve, onLoad, resolve }) {
      onResolve({ filter: /^node:/ }, ({ path }) => ({ path: path.replace('node:', ''), namespace: 'refused' }))
      onResolve({ filter: /^@mikro-orm\/sqlite$/ }, () => ({ path: join(lib, MIKRO_ORM) }))
      onResolve({ filter: /^\./ }, async ({ path, resolveDir, importer, kind, pluginData }) => {
        if (pluginData === TWINS) return undefined
        const found = await resolve(path, { resolveDir, importer, kind, pluginData: TWINS })
        const twin = TWINS[relative(lib, found.path)]
        // A twin takes types alone of the file whose place it has.
        if (twin !== undefined) return { path: join(lib, twin) }
        if (!isRefused(found.path)) return found
        return { path: relative(lib, found.path), namespace: kind === 'dynamic-import' ? 'refused on loading' : 'refused' }
      })
      onLoad({ filter: /./, namespace: 'refused' }, ({ path }) => ({ contents: refuseCalls(path), loader: 'js' }))
      onLoad({ filter: /./, namespace: 'refused on loading' }, ({ path }) => ({ contents: refuseLoading(path), loader: 'js' }))
      onLoad({ filter: /\/lib\/.*\.ts$/ }, async ({ path }) => {
        const text = await readFile(path, 'utf8')
        if (!/\basync\b/.test(text) || relative(lib, path) === CARRIED) return undefined
        const { code } = await transform(text, { loader: 'ts', target: 'es2024', supported: { 'async-await': false } })
        if (!code.includes('__async(')) return { contents: code, loader: 'js' }
        if (!HELPER.test(code)) throw new Error(`${path}: esbuild has another way to make asynchronous functions generators.`)
        const carried = `import { carryWork as __async } from ${JSON.stringify(join(lib, CARRIED))}\n`
        return { contents: carried + code.replace(HELPER, ''), loader: 'js' }
      })
    },
  }
}
