/** The scripts of the package have no comments of their own lines, and are the same code. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { build } from 'esbuild'
import { dropComments } from '../../scripts/drop-comments.ts'
import { ROOT } from '../helpers/command.ts'

describe('a script without comments', () => {
  it('has each line of code, in order', async () => {
    const options = { bundle: true, format: 'esm', platform: 'node', packages: 'external', write: false, outdir: ROOT } as const
    const { outputFiles } = await build({ entryPoints: [join(ROOT, 'lib/engine/journal/journal.ts')], ...options })
    const code = outputFiles[0]!.text
    const dropped = dropComments(code)
    assert.ok(dropped.length < code.length)
    const lines = code.split('\n')
    let at = 0
    for (const line of dropped.split('\n')) {
      while (at < lines.length && lines[at] !== line) at++
      assert.ok(at < lines.length, line)
      at++
    }
  })

  it('keeps what only looks like a comment', () => {
    const code = 'const text = `\n/** a */\n// b\n`\nexport { text }\n'
    assert.equal(dropComments(code), code)
  })
})
