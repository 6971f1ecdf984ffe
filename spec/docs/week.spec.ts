/** The guide "a week on one file": its models and commands, one after another, in one folder. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { Command, ROOT } from '../helpers/command.ts'

const page = readFileSync(join(ROOT, 'docs/week-on-one-file.md'), 'utf8')
const blocks = [...page.matchAll(/<!-- week (\w+)(?: (\S+))? -->\n\n```\w+\n([^]*?)\n```/g)].map(([, kind = '', name = '', text = '']) => ({
  kind,
  name,
  text,
}))

/** Applies a block of changes: parts between empty lines, each with lines that stay (a space), go (`-`) and come (`+`). */
function applyChange(code: string, change: string): string {
  return change.split('\n\n').reduce((result, part) => {
    const lines = part.split('\n')
    const [old, fresh] = ['-', '+'].map(sign =>
      lines
        .filter(line => line.startsWith(' ') || line.startsWith(sign))
        .map(line => line.slice(1))
        .join('\n'),
    )
    const parts = `\n${result}`.split(`\n${old}\n`)
    assert.equal(parts.length, 2, `${part}\nis not once in\n${result}`)
    return parts.join(`\n${fresh === '' ? '' : `${fresh}\n`}`).slice(1)
  }, code)
}

/** Splits a command line as a shell does, without `npx mikro-rest`. */
function readArguments(line: string): string[] {
  assert.match(line, /^npx mikro-rest /)
  return [...line.slice('npx mikro-rest '.length).matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare!)
}

describe('docs/week-on-one-file.md', () => {
  let folder: string
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'mikro-rest-week-'))
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'junction')
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  it('takes a model through eight steps on one file, as it says', { timeout: 300_000 }, async () => {
    assert.equal([...page.matchAll(/^## \d\. /gm)].length, 8)
    assert.ok(blocks.length > 30)
    let printed = ''
    for (const { kind, name, text } of blocks) {
      if (kind === 'file') writeFileSync(join(folder, name), `${text}\n`)
      else if (kind === 'change') {
        const path = join(folder, name)
        writeFileSync(path, applyChange(readFileSync(path, 'utf8'), text))
      } else if (kind === 'sql') {
        const db = new Database(join(folder, 'notes.sqlite'))
        db.exec(/^sqlite3 notes\.sqlite "(.*)"$/.exec(text)![1]!)
        db.close()
      } else if (kind === 'prints') {
        for (const line of text.split('\n')) assert.ok(printed.includes(line.split('…')[0]!), `${line}\nis not in\n${printed}`)
      } else {
        await using command = new Command(folder, ...readArguments(text), ...(kind === 'serve' ? ['--port', '0'] : []))
        if (kind === 'serve') {
          await command.origin()
          await wait(50)
          command.child.kill('SIGTERM')
        }
        await command.ended
        printed = command.stdout + command.stderr
      }
    }
    const db = new Database(join(folder, 'notes.sqlite'), { readonly: true })
    assert.deepEqual(db.prepare('select * from item order by id').all(), [
      { id: 1, headline: 'Milk', rank: 1, stars: 5, shop_id: 1 },
      { id: 2, headline: 'Bread', rank: 2, stars: 0, shop_id: 1 },
      { id: 3, headline: 'More milk', rank: 3, stars: 5, shop_id: 1 },
    ])
    db.close()
    assert.ok(readdirSync(join(folder, 'notes.sqlite.copies')).length >= 6)
  })
})
