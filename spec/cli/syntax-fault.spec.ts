/** What Node alone says of TypeScript that it cannot read: a mistake is no matter of a package, decorators and enums are. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { ROOT } from '../helpers/command.ts'

const FINDER = pathToFileURL(join(ROOT, 'lib/doors/cli/syntax-fault.ts')).href

describe('a fault of TypeScript without a loader', () => {
  it('is told from what a loader would read', () => {
    const folder = mkdtempSync(join(tmpdir(), 'mikro-rest-fault-'))
    try {
      writeFileSync(join(folder, 'module.mts'), 'export const one: number = 1\nexport const two = {\n')
      writeFileSync(join(folder, 'typed.ts'), 'export const one: number = 1\nexport const two: = 2\n')
      writeFileSync(join(folder, 'enum.ts'), 'export enum Two { a }\n')
      const script = `
        const { findSyntaxFault } = await import(${JSON.stringify(FINDER)})
        const found = []
        for (const name of ['module.mts', 'typed.ts', 'enum.ts']) {
          const error = await import(process.cwd() + '/' + name).catch(each => each)
          const fault = findSyntaxFault(error, [])
          found.push(fault && [fault.file, fault.line, fault.isPlain])
        }
        console.log(JSON.stringify(found))`
      const { stdout, stderr } = spawnSync(process.execPath, ['--no-warnings', '--input-type=module', '-e', script], {
        cwd: folder,
        encoding: 'utf8',
      })
      assert.notEqual(stdout, '', stderr)
      assert.deepEqual(JSON.parse(stdout), [[join(folder, 'module.mts'), 2, true], [join(folder, 'typed.ts'), 2, true], null])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
