/** What the compiler says of a misspelt property: one short sentence with the nearest name, and not the type of the whole entity. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, it } from 'node:test'

const root = resolve(import.meta.dirname, '../..')

const PROGRAM = `import { defineEntity, p } from '@mikro-orm/core'
import { auth, resource } from '../../../lib/index.ts'
const User = defineEntity({ name: 'User', properties: { id: p.integer().primary(), email: p.string(), title: p.string() } })
auth({ entity: User, identifier: 'emial' })
resource(User, { key: 'titel' })
resource(User, { expand: ['titel'] })
resource(User, { marks: { read: 'titel' } })
`

describe('the message of the compiler', () => {
  it('names the properties of the entity, and the nearest one', () => {
    mkdirSync(join(root, 'node_modules/.cache'), { recursive: true })
    const folder = mkdtempSync(join(root, 'node_modules/.cache/messages-'))
    try {
      writeFileSync(join(folder, 'program.ts'), PROGRAM)
      writeFileSync(
        join(folder, 'tsconfig.json'),
        JSON.stringify({ extends: join(root, 'tsconfig.json'), files: ['program.ts'], include: [] }),
      )
      const tsc = join(root, 'node_modules/typescript/bin/tsc')
      const { stdout } = spawnSync(process.execPath, [tsc, '-p', folder, '--noEmit', '--pretty', 'false'], { encoding: 'utf8' })
      const found = stdout.split('\n').filter(line => line.includes('Did you mean'))
      assert.equal(found.length, 4, stdout)
      for (const line of found)
        assert.match(line, /(?:^.{0,200}error TS2820: |^ +)Type '"(?:emial|titel)"' is not assignable to type '"email" \| /)
      for (const line of stdout.split('\n')) assert.ok(line.length < 400, line)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
