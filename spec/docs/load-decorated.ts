/**
 * Module hooks for the examples of the docs: TypeScript with decorators is translated by esbuild, by the settings of the project, as tsx
 * does it, which the guides name. Everything else is for Node itself to load, as at a reader's: hooks on each module cost more than most
 * examples.
 */
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { transformSync } from 'esbuild'

const DECORATED = /^\s*@[A-Za-z.]+\(/m

registerHooks({
  load(url, context, nextLoad) {
    if (!/^file:.*\.mts$/.test(url) || url.includes('/node_modules/')) return nextLoad(url, context)
    const file = fileURLToPath(url)
    const source = readFileSync(file, 'utf8')
    if (!DECORATED.test(source)) return nextLoad(url, context)
    const tsconfigRaw = readFileSync(join(dirname(file), 'tsconfig.json'), 'utf8')
    const { code } = transformSync(source, { loader: 'ts', target: 'es2022', sourcemap: 'inline', sourcefile: file, tsconfigRaw })
    return { format: 'module', source: code, shortCircuit: true }
  },
})
