/**
 * The reports of docs/upstream: defects of MikroORM that lib/ corrects, each with a script that shows the defect with MikroORM alone. A
 * script that no longer prints "What happens" says that MikroORM has mended the defect.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { ROOT } from '../helpers/command.ts'
import { readReports, runReports } from '../helpers/upstream.ts'

const reports = readReports()
const list = readFileSync(join(ROOT, 'docs/upstream/README.md'), 'utf8')
/** The page of a defect, and the function that corrects the defect in a file of lib/databases. */
const corrections = new Map(
  [...list.matchAll(/^- \[[^\]]+\]\(([\w-]+\.md)\): `(\w+)` of\s+`([\w/-]+\.ts)`/gm)].map(([, page = '', name = '', file = '']) => [
    page,
    { name, file: `lib/databases/${file}` },
  ]),
)

describe('docs/upstream', () => {
  it('lists each report, with the function that corrects the defect', () => {
    assert.deepEqual([...corrections.keys()].toSorted(), reports.map(({ page }) => page).toSorted())
    const missing = [...corrections.values()].filter(
      ({ name, file }) => !new RegExp(`(?:function|override) ${name}\\b`).test(readFileSync(join(ROOT, file), 'utf8')),
    )
    assert.deepEqual(missing, [])
  })

  it('has scripts of at most forty lines that import MikroORM alone', () => {
    for (const { page, script } of reports) {
      assert.ok(script.trimEnd().split('\n').length <= 40, page)
      const imported = [...script.matchAll(/\bfrom '(.+)'/g)].map(([, name]) => name)
      assert.deepEqual(imported, ['@mikro-orm/sqlite'], page)
    }
  })
})

describe('MikroORM alone', () => {
  let folder: string
  let printed: string[]
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mikro-rest-upstream-'))
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'junction')
    printed = await runReports(reports, folder)
  })
  after(() => rm(folder, { recursive: true, force: true }))

  for (const [index, { page, title, happens, expected }] of reports.entries()) {
    it(title, () => {
      const { name, file } = corrections.get(page)!
      assert.notEqual(printed[index], expected, `MikroORM has mended this: ${name} of ${file} may go, with docs/upstream/${page}.`)
      assert.equal(printed[index], happens)
    })
  }
})
