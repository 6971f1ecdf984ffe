/**
 * Requests that the workbench copies as tests for Vitest and Playwright: each text is run as it stands, by the runner itself, and fails
 * where the data are others.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { RestEngine } from '../../lib/index.ts'
import { RUNNERS, asTest } from '../../lib/workbench/requests/copies.ts'
import type { CopiedRequest } from '../../lib/workbench/requests/copies.ts'
import { LIBRARY, ROOT } from '../helpers/command.ts'

const BACKEND = `
import { defineEntity, p } from '@mikro-orm/core'
const Author = defineEntity({ name: 'Author', properties: { id: p.integer().primary(), name: p.string().unique(), born: p.integer().nullable(), books: () => p.oneToMany(Book).mappedBy('author') } })
const Book = defineEntity({ name: 'Book', properties: { id: p.integer().primary(), title: p.string(), author: () => p.manyToOne(Author).nullable() } })
export const options = { entities: [Author, Book], seed: { authors: [{ id: 1, name: 'Jane', born: 1775 }], books: [{ id: 1, title: 'Emma', author: 1 }] } }
`
const REQUESTS: readonly (readonly [line: string, body?: unknown])[] = [
  ['GET /v1/authors?born>=1700&sort=name'],
  ['GET /v1/authors/9'],
  ['POST /v1/books', { title: `It's "new" \\ \`\${x}\``, author: 1 }],
  ['POST /v1/authors', { name: 'Jane' }],
  ['PATCH /v1/authors/1', { born: null }],
  ['DELETE /v1/books/1'],
]
/** The places of the tests that need the author: the last one is the first, at a time of its own. Faults need nothing. */
const NEEDS_AUTHOR = [0, 2, 3, 4, 6]
/** How each runner is told that a test is to fail. */
const EXPECTED_FAILURES: Readonly<Record<string, string>> = { Vitest: 'test.fails(', Playwright: 'test.fail(' }
const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  Vitest: ['vitest/vitest.mjs', 'run', '--testTimeout=60000'],
  Playwright: ['@playwright/test/cli.js', 'test', '--timeout=60000', '--reporter=line'],
}

/** Gives a test its engine. Nothing is loaded before: Playwright reads the file in a process of its own, to see which tests it has. */
const FORK = `
let base
async function fork(hasAuthor) {
  base ??= import('${LIBRARY}').then(async ({ RestEngine }) => RestEngine.create((await import('./backend.mjs')).options))
  const engine = await (await base).fork()
  if (!hasAuthor) await engine.send('DELETE /v1/authors/1')
  return engine
}
`

describe('a request that is copied as a test', { timeout: 240_000 }, () => {
  let folder: string
  const texts = new Map<string, string[]>()

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mikro-rest-copied-tests-'))
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'junction')
    await writeFile(join(folder, 'backend.mjs'), BACKEND)
    const { options } = (await import(pathToFileURL(join(folder, 'backend.mjs')).href)) as {
      options: Parameters<typeof RestEngine.create>[0]
    }
    await using engine = await RestEngine.create(options)
    const entries: CopiedRequest[] = []
    for (const [line, body] of REQUESTS) {
      await using fork = await engine.fork()
      await fork.send(line, { body })
      entries.push(fork.requests.at(-1)!)
    }
    const [first] = entries as [CopiedRequest]
    entries.push({ ...first, frozen: '2026-01-31T12:00:00.000Z' })
    for (const [kind, given] of [
      ['fail', { status: 503, times: 1 }],
      ['drop', { times: 1 }],
    ] as const) {
      await using fork = await engine.fork()
      const { id } = kind === 'fail' ? fork.fail('GET /v1/books', { status: 503, times: 1 }) : fork.drop('GET /v1/books', { times: 1 })
      await fork.send('GET /v1/books').catch(() => {})
      entries.push({ ...fork.requests.at(-1)!, met: { id, kind, match: 'GET /v1/books', met: 0, left: 1, options: given } })
    }
    for (const runner of RUNNERS)
      texts.set(
        runner,
        entries.map(entry => asTest(entry, runner)),
      )
  })
  after(() => rm(folder, { recursive: true, force: true }))

  /**
   * Runs the texts in one file, each where `engine` is one of its own: with the data as they were, and without their author, where those
   * that need the author are expected to fail. Returns what the runner prints.
   */
  async function run(runner: string): Promise<{ readonly code: number | null; readonly output: string }> {
    const all = texts.get(runner)!
    const heads = new Set(all.map(text => text.split('\n\n', 1)[0]!))
    assert.equal(heads.size, 1)
    const [head = ''] = heads
    const blocks = [true, false].flatMap(hasAuthor =>
      all.map((text, index) => {
        const call = hasAuthor || !NEEDS_AUTHOR.includes(index) ? 'test(' : EXPECTED_FAILURES[runner]!
        const named = text.slice(head.length).replace("test('", `${call}'${index}, ${hasAuthor ? 'with' : 'without'} the author: `)
        return named.replace('async () => {\n', begin => `${begin}  const engine = await fork(${hasAuthor})\n`)
      }),
    )
    const file = [head, FORK, ...blocks].join('\n')
    const [script = '', ...args] = COMMANDS[runner]!
    const name = runner === 'Vitest' ? 'a.test.mjs' : 'a.spec.mjs'
    await writeFile(join(folder, name), file)
    const { NODE_TEST_CONTEXT: _, FORCE_COLOR: __, NODE_OPTIONS: ___, ...env } = process.env
    const child = spawn(process.execPath, [join(ROOT, 'node_modules', script), ...args, name], {
      cwd: folder,
      env: { ...env, NO_COLOR: '1' },
      stdio: 'pipe',
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += String(chunk)))
    const code = await new Promise<number | null>(resolve => child.once('close', resolve))
    return { code, output }
  }

  for (const runner of ['Vitest', 'Playwright']) {
    it(`passes in ${runner} where the data are as they were, and fails where they are not`, async () => {
      const { code, output } = await run(runner)
      assert.equal(code, 0, output)
      // A test that was expected to fail, and has not, fails; Playwright counts one that has failed among those that pass.
      const failures = runner === 'Vitest' ? NEEDS_AUTHOR.length : 0
      assert.match(output, new RegExp(`\\b${2 * texts.get(runner)!.length - failures} passed`))
      if (failures > 0) assert.match(output, new RegExp(`\\b${failures} expected fail`))
    })
  }
})
