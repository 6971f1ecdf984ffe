/** The source maps of the package: small, and every place of a file leads to the line that the bundler's own map names. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import type { SourceMapPayload } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { build } from 'esbuild'
import { thinSourceMap } from '../../scripts/thin-source-maps.ts'
import { ROOT } from '../helpers/command.ts'

const read = (text: string): SourceMap => new SourceMap(JSON.parse(text) as SourceMapPayload)

describe('a thin source map', () => {
  let code = ''
  let full = ''
  before(async () => {
    const entryPoints = [join(ROOT, 'lib/description/openapi/document.ts')]
    const options = { bundle: true, format: 'esm', platform: 'node', packages: 'external', write: false, outdir: ROOT } as const
    const { outputFiles } = await build({ entryPoints, ...options, sourcemap: 'external', sourcesContent: false, charset: 'utf8' })
    for (const { path, text } of outputFiles) {
      if (path.endsWith('.map')) full = text
      else code = text
    }
  })

  it('leads from every place to the same file and line', () => {
    const [before, after] = [read(full), read(thinSourceMap(full))]
    const lead = (map: SourceMap, line: number, column: number): string => {
      const entry = map.findEntry(line, column)
      return 'originalSource' in entry ? `${entry.originalSource}:${entry.originalLine}` : 'nowhere'
    }
    let places = 0
    for (const [line, text] of code.split('\n').entries()) {
      for (let column = text.search(/\S/); column >= 0 && column < text.length; column += 3) {
        places += 1
        assert.equal(lead(after, line, column), lead(before, line, column), `${line + 1}:${column + 1} ${text}`)
      }
    }
    assert.ok(places > 10_000, String(places))
  })

  it('takes less than a third of the bytes', () => {
    const { length } = thinSourceMap(full)
    assert.ok(length * 3 < full.length, `${length} of ${full.length}`)
  })

  it('names the line of the source in a stack', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'mikro-rest-maps-'))
    try {
      writeFileSync(
        join(folder, 'a.ts'),
        `interface Unused {\n  a: 1\n}\nconst text: string = 'x'\nfunction fail(): never { throw new Error(text) }\nfail()\n`,
      )
      const { outputFiles } = await build({
        entryPoints: [join(folder, 'a.ts')],
        outfile: join(folder, 'a.mjs'),
        sourcemap: true,
        write: false,
      })
      for (const { path, text } of outputFiles) writeFileSync(path, path.endsWith('.map') ? thinSourceMap(text) : text)
      const script = `try { await import('./a.mjs') } catch (error) { console.log(error.stack) }`
      const stack = execFileSync(process.execPath, ['--enable-source-maps', '--input-type=module', '--eval', script], {
        cwd: folder,
        encoding: 'utf8',
      })
      assert.match(stack, /a\.ts:5:/)
      assert.match(stack, /a\.ts:6:/)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it('refuses what is no source map', () => {
    assert.throws(() => thinSourceMap('{"version":3,"sources":[],"mappings":"A*"}'), /A source map has the segment "A\*"\./)
  })
})
