/** What an engine loads: packages that only seeds and migrations need are not among it. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { LIBRARY } from '../helpers/command.ts'

const APP = fileURLToPath(new URL('app', import.meta.url))

/**
 * Creates engines, with entities and by patterns, and prints the packages that were loaded, before and after the packages are asked for.
 */
const SCRIPT = `
  import { registerHooks } from 'node:module'
  const met = []
  registerHooks({ resolve: (specifier, context, next) => { const found = next(specifier, context); met.push(found.url); return found } })
  const { defineEntity, p } = await import('@mikro-orm/core')
  const { RestEngine } = await import(${JSON.stringify(LIBRARY)})
  const list = () => JSON.stringify([...new Set(met.flatMap(url => /@mikro-orm\\/(seeder|migrations|entity-generator|nestjs)\\//.exec(url)?.slice(1) ?? []))])
  const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary() } })
  for (const entities of [[Note], [${JSON.stringify(`${APP}/entities/tag.ts`)}]]) await (await RestEngine.create({ entities })).close()
  console.log(list())
  const engine = await RestEngine.create({ config: { entities: [Note], dbName: ':memory:' } })
  engine.orm.seeder
  engine.orm.migrator
  console.log(list())
  await engine.close()
`

describe('an engine', () => {
  it('loads what seeds and migrations need when they are used', () => {
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', SCRIPT], { encoding: 'utf8', cwd: APP })
    const [before = '', later = ''] = stdout.split('\n')
    assert.equal(before, '[]', stderr)
    assert.deepEqual((JSON.parse(later) as string[]).toSorted(), ['migrations', 'seeder'])
  })
})
