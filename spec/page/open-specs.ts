/**
 * Opens a page that runs spec files against engines in the page: `node:test`, `node:assert` and the like have stand-ins. The browser is
 * Chromium, or SPEC_BROWSER.
 */
import { builtinModules } from 'node:module'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'esbuild'
import { isRefused, pageModules } from '../../scripts/page-modules.ts'
import { shakeSqlite } from '../../scripts/shake-sqlite.ts'
import { borrowBrowser } from '../helpers/chromium.ts'
import { OTHER_BROWSERS, type OtherBrowser } from '../helpers/other-browsers.ts'
import { serveFiles } from './serve-page.ts'
import type { RunResult } from './stand-ins/test.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const at = (name: string): string => join(root, 'spec/page/stand-ins', name)

/** By what specs import. */
const STAND_INS: readonly (readonly [RegExp, string])[] = [
  [/^node:test$/, at('test.ts')],
  [/^node:assert(?:\/strict)?$/, at('assert.ts')],
  [/^node:timers\/promises$/, at('timers.ts')],
  [/^better-sqlite3$/, at('better-sqlite3.ts')],
  [/^pg$/, at('pg.ts')],
  [/\/lib\/index\.ts$/, at('library.ts')],
]

/** Modules that `spec/openapi/conformity.ts` imports by names in variables. */
const BY_NAME: Readonly<Record<string, string>> = { 'ajv/dist/2020.js': 'ajv', 'ajv-formats': 'ajv-formats' }

const standIns: Plugin = {
  name: 'stand-ins',
  setup({ onResolve, onLoad }) {
    for (const [filter, path] of STAND_INS) onResolve({ filter }, () => ({ path }))
    const isOfNode = (name: string): boolean => builtinModules.includes(name.replace('node:', ''))
    onResolve({ filter: /^[\w:/]+$/ }, ({ path, importer }) =>
      isOfNode(path) && !importer.startsWith(join(root, 'lib/')) ? { path: path.replace('node:', ''), namespace: 'of Node' } : undefined,
    )
    onResolve({ filter: /^\..*\/lib\// }, ({ path, resolveDir, importer }) =>
      importer.startsWith(join(root, 'spec/')) && isRefused(join(resolveDir, path))
        ? { path: basename(path), namespace: 'of Node' }
        : undefined,
    )
    onLoad({ filter: /./, namespace: 'of Node' }, ({ path }) => ({
      contents: `module.exports = require(${JSON.stringify(at('node-modules.ts'))}).standInFor(${JSON.stringify(path)})`,
      resolveDir: root,
    }))
    onResolve({ filter: /\/server-database\.ts$/ }, ({ path }) => ({ path, namespace: 'refused' }))
    onResolve({ filter: /^@mikro-orm\/sqlite$/ }, ({ importer }) =>
      importer.startsWith(join(root, 'lib/')) ? undefined : { path: at('sqlite-orm.ts') },
    )
  },
}

export interface OpenedSpecs {
  /**
   * @param leftOut parts of titles of tests that are left out
   * @param runs of each property; undefined: as on Node
   */
  run(file: string, leftOut: readonly string[], runs?: number): Promise<RunResult>
  close(): Promise<void>
}

/** @param files paths of spec files in the repository */
export async function openSpecs(files: readonly string[]): Promise<OpenedSpecs> {
  const nameOf = (file: string): string => file.replace(/^spec\/|\.ts$/g, '').replaceAll('/', '.')
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: {
      run: at('run.ts'),
      ...Object.fromEntries(Object.entries(BY_NAME).map(([module, name]) => [name, module])),
      ...Object.fromEntries(files.map(file => [nameOf(file), file])),
    },
    outdir: '/',
    write: false,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2024',
    plugins: [standIns, pageModules(root)],
    logLevel: 'error',
  })
  const served = new Map<string, Buffer>(outputFiles.map(({ path, contents }) => [`/${basename(path)}`, Buffer.from(contents)]))
  served.set('/sqlite3.wasm', Buffer.from(shakeSqlite(root)))
  const imports = Object.fromEntries(Object.entries(BY_NAME).map(([module, name]) => [module, `/${name}.js`]))
  const map = `<script type="importmap">${JSON.stringify({ imports })}</script>`
  served.set('/index.html', Buffer.from(`<!doctype html>${map}<script type="module" src="/run.js"></script>`))
  const asked = process.env['SPEC_BROWSER']
  return asked === undefined ? runInChromium(served, nameOf) : runElsewhere(findOther(asked), served, nameOf)
}

type Pages = ReadonlyMap<string, Buffer>

async function runInChromium(served: Pages, nameOf: (file: string) => string): Promise<OpenedSpecs> {
  const server = await serveFiles(served)
  const borrowed = await borrowBrowser()
  const context = await borrowed.browser.newContext()
  const page = await context.newPage()
  await page.goto(server.address)
  await page.waitForFunction('globalThis.ready === true', undefined, { timeout: 30_000 })
  return {
    run: (file, leftOut, runs) =>
      page.evaluate(given => (globalThis as unknown as RunningPage).runFile(...given), [`/${nameOf(file)}.js`, leftOut, runs] as const),
    async close() {
      await context.close()
      await borrowed.close()
      await server.close()
    },
  }
}

function findOther(name: string): OtherBrowser {
  const browser = OTHER_BROWSERS.find(each => each.name === name)
  if (browser === undefined) throw new Error(`SPEC_BROWSER is one of ${OTHER_BROWSERS.map(each => each.name).join(', ')}.`)
  if (browser.missing !== false) throw new Error(`SPEC_BROWSER: ${browser.missing}`)
  return browser
}

/** The page posts what the last file has given, and waits for the next file. */
async function runElsewhere(browser: OtherBrowser, served: Pages, nameOf: (file: string) => string): Promise<OpenedSpecs> {
  let isWaiting = Promise.withResolvers<(next: string) => void>()
  let result = Promise.withResolvers<RunResult>()
  const server = await serveFiles(served, undefined, body => {
    result.resolve(JSON.parse(body) as RunResult)
    const next = Promise.withResolvers<string>()
    isWaiting.resolve(next.resolve)
    return next.promise
  })
  const opened = await browser.open(`${server.address}?asks`)
  return {
    async run(file, leftOut, runs) {
      const go = await isWaiting.promise
      isWaiting = Promise.withResolvers()
      result = Promise.withResolvers()
      go(JSON.stringify([`/${nameOf(file)}.js`, leftOut, runs ?? null]))
      return result.promise
    },
    async close() {
      await opened.close()
      await server.close()
    },
  }
}

interface RunningPage {
  runFile(path: string, leftOut: readonly string[], runs?: number): Promise<RunResult>
}
