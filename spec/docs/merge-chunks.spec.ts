/**
 * The build's merge of chunks: fewer files that do the same, and on demand what was on demand.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { build } from 'esbuild'
import type { Metafile } from 'esbuild'
import { mergeChunks } from '../../scripts/merge-chunks.ts'

/** Modules of which each pair of entries shares others, with one name for different things. */
const SOURCES = {
  'base.ts': `export const value = 'base'\nexport const list: string[] = []\nlist.push('base')`,
  'left.ts': `import { value as below, list } from './base.ts'\nexport const value = 'left of ' + below\nlist.push('left')`,
  'right.ts': `import { value as below, list } from './base.ts'\nexport const value = 'right of ' + below\nlist.push('right')`,
  'only.ts': `export const value = 'only'`,
  'lazy-left.ts': `import { value } from './left.ts'\nexport const lazy = 'lazy ' + value`,
  'lazy-right.ts': `import { value } from './right.ts'\nimport { list } from './base.ts'\nexport const lazy = 'lazy ' + value + ' ' + list.length`,
  'main.ts': `import { value as left } from './left.ts'\nimport { value as right } from './right.ts'\nimport { value } from './only.ts'\nimport { list } from './base.ts'
export const answer = async (): Promise<string> => [left, right, value, list.join('+'), (await import('./lazy-left.ts')).lazy, (await import('./lazy-right.ts')).lazy].join(', ')`,
  'small.ts': `export { value } from './base.ts'`,
}

describe('merging chunks', () => {
  let folder = ''
  let metafile: Metafile

  async function bundle(): Promise<void> {
    rmSync(join(folder, 'dist'), { recursive: true, force: true })
    const entryPoints = ['src/main.ts', 'src/small.ts']
    const options = { bundle: true, splitting: true, format: 'esm', platform: 'node', metafile: true } as const
    ;({ metafile } = await build({ absWorkingDir: folder, entryPoints, outdir: 'dist', chunkNames: 'chunks/[name]-[hash]', ...options }))
  }

  function run(script: string): string {
    const words = ['--input-type=module', '--eval', script]
    return execFileSync(process.execPath, words, { cwd: folder, encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '' } }).trim()
  }

  const countLoaded = (entry: string): number =>
    Number(
      run(`import { registerHooks } from 'node:module'
        let loaded = 0
        registerHooks({ load: (url, context, next) => (loaded++, next(url, context)) })
        await import('./dist/${entry}.js')
        console.log(loaded)`),
    )

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'mikro-rest-merge-'))
    for (const [name, text] of Object.entries({ 'package.json': '{ "type": "module" }', ...SOURCES })) {
      const file = join(folder, name.endsWith('.ts') ? 'src' : '', name)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text)
    }
  })
  after(() => {
    rmSync(folder, { recursive: true, force: true })
  })

  const ASK = `const { answer } = await import('./dist/main.js')\nconsole.log(await answer())`

  it('leaves fewer files, which do the same', async () => {
    await bundle()
    const [said, loaded] = [run(ASK), countLoaded('main')]
    const files = readdirSync(join(folder, 'dist/chunks')).length
    await mergeChunks(folder, metafile, [
      { name: 'first', entries: ['src/small.ts'] },
      { name: 'second', entries: ['src/main.ts'] },
    ])
    assert.equal(run(ASK), said)
    assert.equal(said.split(', ').length, 6)
    assert.ok(readdirSync(join(folder, 'dist/chunks')).length < files)
    assert.ok(countLoaded('main') < loaded, `${countLoaded('main')} of ${loaded}`)
    assert.ok(existsSync(join(folder, 'dist/chunks/second.js')))
  })

  it('gives an entry nothing that it did not load', async () => {
    await bundle()
    const before = countLoaded('small')
    await mergeChunks(folder, metafile, [
      { name: 'first', entries: ['src/small.ts', 'src/main.ts'] },
      { name: 'second', entries: ['src/main.ts'] },
    ])
    assert.equal(countLoaded('small'), before)
    assert.equal(run(`console.log(Object.keys(await import('./dist/small.js')).join())`), 'value')
  })

  it('refuses a group of an entry that is not built', async () => {
    await bundle()
    await assert.rejects(
      mergeChunks(folder, metafile, [{ name: 'none', entries: ['src/none.ts'] }]),
      /src\/none\.ts is not an entry of the build\./,
    )
  })
})
