/**
 * The scripts of the package have no comments of their own lines, are the same code, and their source maps lead to the same lines as
 * before.
 */
import assert from 'node:assert/strict'
import { SourceMap } from 'node:module'
import type { SourceMapPayload } from 'node:module'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { build } from 'esbuild'
import { dropComments } from '../../scripts/drop-comments.ts'
import { ROOT } from '../helpers/command.ts'

describe('a script without comments', () => {
  it('has each line of code, and each leads to the line that it led to', async () => {
    const options = { bundle: true, format: 'esm', platform: 'node', packages: 'external', write: false, outdir: ROOT } as const
    const { outputFiles } = await build({
      entryPoints: [join(ROOT, 'lib/engine/journal/journal.ts')],
      ...options,
      sourcemap: 'external',
      sourcesContent: false,
    })
    const [map, code] = [
      outputFiles.find(({ path }) => path.endsWith('.map'))!.text,
      outputFiles.find(({ path }) => path.endsWith('.js'))!.text,
    ]
    const dropped = dropComments(code, map)
    assert.ok(dropped.code.length < code.length)
    const [before, after] = [new SourceMap(JSON.parse(map) as SourceMapPayload), new SourceMap(JSON.parse(dropped.map) as SourceMapPayload)]
    const lines = code.split('\n')
    let at = 0
    for (const [index, line] of dropped.code.split('\n').entries()) {
      while (lines[at] !== line) at++
      const [was, is] = [before.findEntry(at, line.search(/\S/)), after.findEntry(index, line.search(/\S/))]
      assert.deepEqual([(is as { originalLine?: number }).originalLine], [(was as { originalLine?: number }).originalLine], line)
      at++
    }
  })

  it('keeps what only looks like a comment', () => {
    const code = 'const text = `\n/** a */\n// b\n`\nexport { text }\n'
    const map = JSON.stringify({ version: 3, sources: [], names: [], mappings: ';;;;' })
    assert.deepEqual(dropComments(code, map), { code, map })
  })
})
