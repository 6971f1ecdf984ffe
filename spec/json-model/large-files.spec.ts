/** Large JSON files: what their start costs grows as their records do, and the command shows its progress. */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { readJsonFile } from '../../lib/doors/cli/json-file.ts'
import { Saver } from '../../lib/doors/cli/save.ts'
import { RestEngine, fromJson } from '../../lib/index.ts'
import type { JsonData } from '../../lib/index.ts'
import { buildModel } from '../../lib/model/json-model/from-json.ts'
import { Command } from '../helpers/command.ts'
import { cpuOf, leastOf, threadTimeOf } from '../helpers/least.ts'

/**
 * A file with everything that is inferred from values: IDs of both types, relations to one and to many, odd IDs, names that lack a record.
 *
 * @param more stands behind each title
 */
function writeData(posts: number, more = ''): string {
  const users = Array.from({ length: posts / 10 }, (_, index) => ({ id: index + 1, name: `User ${index}`, age: index % 90 }))
  return JSON.stringify({
    users,
    tags: [{ id: 'a' }, { id: 'b' }],
    posts: Array.from({ length: posts }, (_, index) => ({
      // Every tenth ID is there already.
      id: index % 10 === 9 ? index : index + 1,
      userId: 1 + (index % users.length),
      tags: index % 2 === 0 ? ['a', 'b'] : ['b'],
      title: `Post ${index}${more}`,
      rating: index / 7,
      ...(index % 5 === 0 ? { draft: true } : {}),
    })),
  })
}

/** Starts an engine on the text, and returns the CPU time of that in milliseconds. */
async function measureStart(text: string): Promise<number> {
  return cpuOf(async () => {
    await using engine = await RestEngine.create({ ...fromJson(JSON.parse(text) as JsonData) })
    const { body } = await engine.handle('GET', '/v1/posts', { limit: 1 })
    assert.ok((body as { count: number }).count > 0)
  })
}

describe('A large JSON file', () => {
  it('costs at most five times as much with four times the records', async () => {
    const [few, many] = [writeData(5000), writeData(20_000)]
    // The first engine of a process costs more.
    await measureStart(few)
    const isInProportion = (least: number, most: number): boolean => most < 5 * least
    const [least, most] = await leastOf([() => measureStart(few), () => measureStart(many)], isInProportion)
    assert.ok(isInProportion(least, most), `${least} and ${most} ms`)
  })

  it('is announced while the command reads and loads it', async t => {
    const folder = await mkdtemp(join(tmpdir(), 'mikro-rest-large-'))
    t.after(() => rm(folder, { recursive: true, force: true }))
    const text = writeData(18_000, 'x'.repeat(500))
    assert.ok(text.length > 10_000_000)
    await writeFile(join(folder, 'large.json'), text)
    await using command = new Command(folder, 'large.json', '--get', '/v1/posts?limit=0')
    assert.equal((await command.ended).code, 0, command.stderr)
    const lines = command.stderr.split('\n')
    assert.match(lines[0]!, /^mikro-rest reads large\.json \(\d\d MB\) \.\.\.$/)
    assert.match(lines[1]!, /^mikro-rest loads 19,802 records of large\.json \.\.\.$/)
    assert.equal((JSON.parse(command.stdout) as { count: number }).count, 18_000)
  })

  it('costs the thread that answers nothing of its size when a change is saved', async t => {
    const folder = await mkdtemp(join(tmpdir(), 'mikro-rest-large-'))
    t.after(() => rm(folder, { recursive: true, force: true }))
    const path = join(folder, 'large.json')
    const text = writeData(60_000)
    await writeFile(path, text)
    const file = await readJsonFile('large.json', path)
    await using engine = await RestEngine.create({ ...buildModel(file.collections) })
    const saver = new Saver(engine, file)
    let count = 0
    const save = async (): Promise<void> => {
      await engine.handle('PATCH', '/v1/posts/5', undefined, { title: `${++count}` })
      assert.equal(await saver.flush(), true)
    }
    // Before, all records were read, parsed and compared: three times what the text takes to be parsed.
    const isCheap = (parsed: number, saved: number): boolean => saved < parsed / 4
    const [parsed, saved] = await leastOf([() => threadTimeOf(() => JSON.parse(text)), () => threadTimeOf(save)], isCheap)
    assert.ok(isCheap(parsed, saved), `${saved} ms, parsed in ${parsed}`)
    assert.equal(await saver.finish(), true)
    const found = JSON.parse(await readFile(path, 'utf8')) as { posts: { title: string }[] }
    assert.equal(found.posts[4]!.title, `${count}`)
  })
})
