/** The engine loads where nothing of Node is: what a page needs before the page can have an engine. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createContext, runInContext } from 'node:vm'
import { build } from 'esbuild'

const FILE = new URL('../../lib/engine.ts', import.meta.url).pathname

/** What browsers, workers and Node have alike. */
const WEB = { AbortController, AbortSignal, Headers, Request, Response, TextDecoder, TextEncoder, URL, URLSearchParams }
const TIME = { clearTimeout, performance, queueMicrotask, setTimeout }

test('the engine, with all that it reaches by static imports, loads without "process", "Buffer" and modules of Node', async () => {
  const { outputFiles } = await build({
    entryPoints: [FILE],
    bundle: true,
    write: false,
    platform: 'browser',
    format: 'iife',
    globalName: 'loaded',
    logLevel: 'silent',
    plugins: [
      {
        name: 'static imports alone',
        setup({ onResolve, onLoad }) {
          onResolve({ filter: /./ }, ({ kind, path }) => (kind === 'dynamic-import' ? { path, external: true } : undefined))
          // MikroORM has its own way without Node.
          onResolve({ filter: /^@mikro-orm\// }, ({ path }) => ({ path, namespace: 'mikro-orm' }))
          onLoad({ filter: /./, namespace: 'mikro-orm' }, () => ({
            contents: 'module.exports = new Proxy(class {}, { get: () => class {} })',
          }))
        },
      },
    ],
  })
  const page = createContext({ ...WEB, ...TIME })
  runInContext(outputFiles[0]!.text, page)
  assert.equal(runInContext('typeof loaded.RestEngine.create', page), 'function')
  assert.equal(runInContext('[typeof process, typeof Buffer, typeof require].join()', page), 'undefined,undefined,undefined')
})
