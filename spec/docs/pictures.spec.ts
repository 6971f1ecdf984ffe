/**
 * The pictures of the docs: each that a page shows is there and made by the script, each that the script makes is shown, and all of them
 * are small.
 */
import assert from 'node:assert/strict'
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { PICTURES } from '../../scripts/pictures.ts'

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../..')
const FOLDER = join(ROOT, 'docs/pictures')
const KILOBYTE = 1000

describe('the pictures of the docs', () => {
  const shown = [join(ROOT, 'README.md'), ...readdirSync(join(ROOT, 'docs')).map(name => join(ROOT, 'docs', name))]
    .filter(path => path.endsWith('.md'))
    .flatMap(path =>
      [...readFileSync(path, 'utf8').matchAll(/!\[([^\]]*)\]\(([^)\s]+)\)/g)].map(([, words = '', link = '']) => ({
        words,
        path: resolve(dirname(path), link),
      })),
    )
    .filter(({ path }) => dirname(path) === FOLDER)

  it('are those that the script makes', () => {
    const named = [...new Set(shown.map(({ path }) => path))].toSorted()
    assert.deepEqual(named, PICTURES.map(({ name }) => join(FOLDER, name)).toSorted())
    assert.deepEqual(readdirSync(FOLDER).toSorted(), PICTURES.map(({ name }) => name).toSorted())
  })

  it('are said in words, too', () => {
    for (const { words, path } of shown) assert.ok(words.length > 30, path)
  })

  it('are WebP, of a few tens of kilobytes', () => {
    const sizes = PICTURES.map(({ name }) => statSync(join(FOLDER, name)).size)
    for (const { name } of PICTURES) assert.equal(readFileSync(join(FOLDER, name)).toString('latin1', 8, 12), 'WEBP', name)
    assert.ok(Math.max(...sizes) < 80 * KILOBYTE, `${Math.max(...sizes)} bytes`)
    assert.ok(sizes.reduce((sum, size) => sum + size) < 400 * KILOBYTE)
  })
})
