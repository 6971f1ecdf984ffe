/** Module hooks that let Node load TypeScript with decorators, which it cannot strip itself: specs and fixtures with decorated classes. */
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'
import { transformSync } from 'esbuild'

const DECORATED = /^\s*@[A-Za-z.]+\(/m

registerHooks({
  load(url, context, nextLoad) {
    if (/\/(?:spec|fixtures)\/.*\.ts$/.test(url) && !url.includes('/node_modules/')) {
      const source = readFileSync(fileURLToPath(url), 'utf8')
      if (DECORATED.test(source)) {
        const { code } = transformSync(source, { loader: 'ts', target: 'es2022', sourcemap: 'inline', sourcefile: fileURLToPath(url) })
        return { format: 'module', source: code, shortCircuit: true }
      }
    }
    return nextLoad(url, context)
  },
})
