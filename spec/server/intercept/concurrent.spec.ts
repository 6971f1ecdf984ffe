/** Interception by tests that run at the same time: each sees its own world alone, under node:test, Vitest and Jest. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { transformSync } from 'esbuild'
import type { RestEngine } from '../../../lib/index.ts'
import { LIBRARY, ROOT } from '../../helpers/command.ts'
import { makeEngine, tryBoundary, tryOwnWorld } from './at-once.ts'
import { runJest } from './run-jest.ts'

/**
 * What the tests share, in JavaScript and for the library as it is published: runners that compile what they load need not compile that.
 * Returns its path.
 */
async function writeShared(): Promise<string> {
  const folder = await mkdtemp(join(ROOT, 'node_modules/.cache/at-once-'))
  const text = await readFile(new URL('at-once.ts', import.meta.url), 'utf8')
  const file = join(folder, 'at-once.mjs')
  const { code } = transformSync(text.replace("'../../../lib/index.ts'", JSON.stringify(fileURLToPath(LIBRARY))), {
    loader: 'ts',
    target: 'node22',
  })
  await writeFile(file, code)
  return file
}

const TESTS = `
  let engine
  beforeAll(async () => { engine = await makeEngine() })
  afterAll(() => engine.close())
  for (let number = 0; number < 25; number++) {
    test.concurrent('test ' + number, () => tryOwnWorld(engine, 'test ' + number), 200_000)
    test.concurrent('boundary ' + number, () => tryBoundary(engine, 'boundary ' + number), 200_000)
  }`

async function runVitest(text: string): Promise<string> {
  const vitest = dirname(createRequire(import.meta.url).resolve('vitest/package.json'))
  const folder = await mkdtemp(join(tmpdir(), 'mikro-rest-vitest-'))
  try {
    await symlink(dirname(vitest), join(folder, 'node_modules'), 'junction')
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
    await writeFile(join(folder, 'vitest.config.js'), 'export default { test: { maxConcurrency: 50 }, server: { fs: { strict: false } } }')
    await writeFile(join(folder, 'at-once.test.js'), text)
    const { NODE_TEST_CONTEXT: _, NODE_OPTIONS: __, ...env } = process.env
    const args = [join(vitest, 'vitest.mjs'), 'run', '--root', folder, '--reporter', 'verbose']
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, env, encoding: 'utf8', timeout: 300_000 })
    assert.equal(status, 0, stdout + stderr)
    return stdout
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

describe('under node:test', { concurrency: 50 }, () => {
  let engine: RestEngine
  before(async () => {
    engine = await makeEngine()
  })
  after(() => engine.close())
  for (let number = 0; number < 25; number++) {
    it(`test ${number} sees its own world`, () => tryOwnWorld(engine, `test ${number}`))
    it(`boundary ${number} sees its own world`, () => tryBoundary(engine, `boundary ${number}`))
  }
})

describe('50 tests at once see their own world', () => {
  let file: string
  let shared: string
  before(async () => {
    file = await writeShared()
    shared = JSON.stringify(file)
  })
  after(() => rm(dirname(file), { recursive: true }))

  it('under Vitest', async () => {
    const text = `import { afterAll, beforeAll, test } from 'vitest'
      import { makeEngine, tryBoundary, tryOwnWorld } from ${shared}
      ${TESTS}`
    // oxlint-disable-next-line no-control-regex -- colours of the terminal
    assert.match((await runVitest(text)).replaceAll(/\u001b\[\d+m/g, ''), /Tests +50 passed/)
  })

  it('under Jest', async () => {
    const text = `import { makeEngine, tryBoundary, tryOwnWorld } from ${shared}
      ${TESTS}`
    assert.match(await runJest({ 'at-once.test.js': text }, 'module'), /Tests: +50 passed/)
  })
})
