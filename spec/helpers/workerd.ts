/** The shop of `spec/page/shop.ts` in workerd, the runtime of Cloudflare's workers, with functions that MikroORM has compiled. */
import { spawn } from 'node:child_process'
import { copyFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { ROOT } from './command.ts'
import { findPort } from '../postgres/own-server.ts'

const SHOP = JSON.stringify(join(ROOT, 'spec/page/shop.ts'))

const CONFIG = `import { defineConfig } from '@mikro-orm/sqlite'
import { ENTITIES } from ${SHOP}
export default defineConfig({ entities: ENTITIES, dbName: ':memory:' })
`
const WORKER = `import sqlite from './sqlite3.wasm'
import compiledFunctions from './compiled-functions.js'
import * as library from 'mikro-rest/browser'
import { askShop, makeShop, useMembers } from ${SHOP}
const make = () => makeShop(library, { options: { orm: { compiledFunctions } } })
async function find() {
  await library.loadSqlite(sqlite)
  const intercepting = (await make()).intercept('https://api.example.test')
  const intercepted = (await fetch('https://api.example.test/v1/tags')).status
  intercepting.dispose()
  return { answers: await askShop(await make()), members: await useMembers(await make()), intercepted }
}
export default { fetch: () => find().then(found => Response.json(found), error => new Response(String(error.stack), { status: 500 })) }
`
const capnp = (port: number): string => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "shop", worker = (
    modules = [(name = "worker.js", esModule = embed "worker.js"), (name = "sqlite3.wasm", wasm = embed "sqlite3.wasm")],
    compatibilityDate = "2026-11-01",
  ))],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "shop")],
);
`

/** The package's own imports stay, for the bundle from the application's folder. */
async function bundleShop(app: string, contents: string, name: string): Promise<void> {
  const external = ['./sqlite3.wasm', './compiled-functions.js']
  const stdin = { contents, resolveDir: app, loader: 'js' } as const
  await build({ stdin, outfile: join(app, name), bundle: true, format: 'esm', platform: 'node', packages: 'external', external })
}

const wasmOutside: Plugin = {
  name: 'wasm outside',
  setup: ({ onResolve }) => onResolve({ filter: /\.wasm$/ }, ({ path }) => ({ path, external: true })),
}

/**
 * @param app a folder with the package and with `@mikro-orm/cli`
 * @param run runs a command in the folder
 * @param workerd the program
 */
export async function askWorkerd(
  app: string,
  run: (command: string, ...args: string[]) => Promise<unknown>,
  workerd: string,
): Promise<string> {
  await bundleShop(app, CONFIG, 'shop.config.mjs')
  await run('npm', 'exec', 'mikro-orm', '--', 'compile', '--config', './shop.config.mjs', '--out', 'compiled-functions.js')
  await bundleShop(app, WORKER, 'source.mjs')
  await build({
    entryPoints: [join(app, 'source.mjs')],
    outfile: join(app, 'worker.js'),
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2024',
    plugins: [wasmOutside],
  })
  await copyFile(join(app, 'node_modules/mikro-rest/dist/browser/sqlite3.wasm'), join(app, 'sqlite3.wasm'))
  const port = await findPort()
  await writeFile(join(app, 'config.capnp'), capnp(port))
  const started = spawn(workerd, ['serve', 'config.capnp'], { cwd: app, stdio: ['ignore', 'inherit', 'inherit'] })
  try {
    const end = Date.now() + 30_000
    for (;;) {
      const response = await fetch(`http://127.0.0.1:${port}/`).catch((error: unknown) => {
        if (Date.now() > end || started.exitCode !== null) throw error
      })
      if (response !== undefined) return await response.text()
      await new Promise(resolve => setTimeout(resolve, 200))
    }
  } finally {
    started.kill()
  }
}
