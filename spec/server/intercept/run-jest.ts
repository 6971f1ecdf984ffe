/** Runs tests of a spec by Jest, in a folder of their own. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** Runs tests by Jest in a folder of their own, and returns what it printed. TypeScript is stripped, and an ES module. */
export async function runJest(tests: Readonly<Record<string, string>>, type: 'module' | 'commonjs'): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mikro-rest-jest-'))
  try {
    const jest = dirname(createRequire(import.meta.url).resolve('jest/package.json'))
    await symlink(dirname(jest), join(folder, 'node_modules'), 'junction')
    const config = { testEnvironment: 'node', transform: { '\\.ts$': './strip.cjs' }, extensionsToTreatAsEsm: ['.ts'], maxConcurrency: 50 }
    await writeFile(join(folder, 'package.json'), JSON.stringify({ type, jest: config }))
    await writeFile(
      join(folder, 'strip.cjs'),
      `const { stripTypeScriptTypes } = require('node:module')
      module.exports = { process: text => ({ code: stripTypeScriptTypes(text) }) }`,
    )
    for (const [name, text] of Object.entries(tests)) await writeFile(join(folder, name), text)
    const { NODE_TEST_CONTEXT: _, NODE_OPTIONS: __, ...env } = process.env
    const flags = ['--no-warnings', '--experimental-vm-modules']
    const args = [...flags, join(jest, 'bin/jest.js'), '--rootDir', folder, '--ci', '--runInBand', '--no-cache']
    const { status, stderr, stdout } = spawnSync(process.execPath, args, { cwd: folder, env, encoding: 'utf8', timeout: 300_000 })
    assert.equal(status, 0, stdout + stderr)
    return stderr
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
