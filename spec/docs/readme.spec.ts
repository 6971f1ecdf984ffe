/**
 * The examples of the README and of the pages in docs/, run as they stand there: every fenced block below `<!-- run -->`. JavaScript and
 * TypeScript run as files of their own, but in one process, in a project of `npm init -y` where `mikro-rest` is as it is published; the
 * requests of shell blocks go, in the order of each page, to the sample model that `npm start` serves. Blocks below `<!-- run configured
 * -->` are for configured.spec.ts, the guides (`<!-- file ... -->`, `<!-- guide -->`) for package.spec.ts.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Command as RunningCommand, installLibrary } from '../helpers/command.ts'
import { PROJECT } from '../helpers/guides.ts'
import { markedBlocks } from '../helpers/markdown.ts'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..')
/** Pages whose blocks show shapes and statements alone. */
const WITHOUT_EXAMPLES = ['reference.md', 'benchmarks.md']
const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs')).flatMap(name => (name.endsWith('.md') && !WITHOUT_EXAMPLES.includes(name) ? [`docs/${name}`] : [])),
]
const texts = new Map(pages.map(page => [page, readFileSync(join(root, page), 'utf8')]))
const blocks = pages.flatMap(page => markedBlocks(texts.get(page)!).map(block => ({ ...block, page })))
/** What the examples import beside the package. */
const PACKAGES = ['@mikro-orm', '@nestjs', 'express', 'fastify', 'hono', 'reflect-metadata', 'vite']
/** For examples with decorators; others do without. */
const DECORATORS = ['--import', new URL('load-decorated.ts', import.meta.url).href]
const SHOWN = 'http://127.0.0.1:3000'

/** Environment of a process that is not part of this test run. */
function environment(): NodeJS.ProcessEnv {
  const { NODE_TEST_CONTEXT: _, NODE_OPTIONS: __, ...others } = process.env
  return others
}

describe('README.md and docs/', () => {
  it('mark their examples to be run', () => {
    const others = blocks.filter(({ language, marker }) => ['js', 'sh'].includes(language) && !/^(?:run|file|guide)\b/.test(marker))
    assert.deepEqual(
      others.map(({ text }) => text),
      [],
    )
    const requests = [...texts.values()].reduce((sum, text) => sum + text.split(SHOWN).length - 1, 0)
    assert.equal(requests, shellCommands().length, 'a request outside of a block that is run')
  })

  it('use no syntax that Node 22 lacks', () => {
    const newer = blocks.filter(({ text }) => /^\s*(?:await )?using \w+ = /m.test(text)).map(({ page, line }) => `${page}:${line}`)
    assert.deepEqual(newer, [])
  })

  it('begins with a page that is read at a sitting', () => {
    assert.ok(texts.get('README.md')!.split('\n').length <= 180)
  })

  it('lists every page', () => {
    const index = texts.get('docs/README.md')!
    for (const page of readdirSync(join(root, 'docs')))
      if (page.endsWith('.md') && page !== 'README.md') assert.ok(index.includes(`](${page})`), page)
  })

  it('embeds the engine in less than fifteen lines', () => {
    const [embedding] = blocks.filter(block => block.language === 'js')
    assert.match(embedding?.text ?? '', /from 'node:test'/)
    // Beside the code under test, which stands there for the test to run.
    const own = (embedding?.text ?? '').replace(/^async function .*?^\}\n\n/ms, '')
    assert.ok(own.trimEnd().split('\n').length < 15)
  })
})

describe('examples in code', () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mikro-rest-readme-'))
    // As it is published; that npm installs it so spec/docs/package.spec.ts proves.
    await installLibrary(folder)
    for (const name of PACKAGES) await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name), 'junction')
    await writeFile(join(folder, 'package.json'), PROJECT)
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: { experimentalDecorators: true } }))
    for (const example of examples) await writeFile(fileOf(example), example.text)
  })
  after(() => rm(folder, { recursive: true, force: true }))

  const examples = blocks.filter(({ language, marker }) => ['js', 'ts'].includes(language) && !marker.startsWith('file'))
  const isTest = (text: string): boolean => text.includes('node:test')
  const fileOf = ({ page, line, language }: (typeof blocks)[number]): string =>
    join(folder, `${page.replaceAll(/\W/g, '-')}-${line}.m${language}`)
  const execute = (...args: readonly string[]): { status: number | null; stdout: string; stderr: string } =>
    spawnSync(process.execPath, args, {
      cwd: folder,
      env: environment(),
      encoding: 'utf8',
      timeout: 300_000,
    })

  // Each kind in one process, which loads the package once: what an example leaves open holds it up.
  const tests = examples.filter(({ text }) => isTest(text))
  const ran = new Map<string, { readonly passed: number; readonly failures: readonly string[] }>()
  it('that are tests run', () => {
    const reporter = `--test-reporter=${new URL('report-files.ts', import.meta.url).href}`
    const script = join(root, 'spec/docs/run-examples.ts')
    const { status, stdout, stderr } = execute(...DECORATORS, reporter, script, join(folder, 'test-notes'), ...tests.map(fileOf))
    assert.equal(stderr, '', stdout)
    for (const [file, results] of JSON.parse(stdout) as [string, { passed: number; failures: string[] }][]) ran.set(file, results)
    assert.equal(status, 0, stdout)
  })
  for (const example of tests) {
    it(`${example.page}:${example.line} runs`, () => {
      const { passed, failures } = ran.get(fileOf(example))!
      assert.deepEqual(failures, [])
      assert.ok(passed > 0)
    })
  }

  it('fail as the README says', () => {
    const [, shown = ''] = /^```\n(Unexpected row changes:.*?)^```$/ms.exec(texts.get('README.md')!) ?? []
    assert.notEqual(shown, '')
    const [first] = tests
    assert.match(first!.text, /times: 2 \}/)
    const file = join(folder, 'after.mjs')
    writeFileSync(file, first!.text.replace('times: 2 }', 'times: 2, after: true }'))
    const { status, stdout } = execute('--test', '--test-reporter=spec', file)
    assert.equal(status, 1)
    const printed = stdout.replaceAll(/^ {2}/gm, '').replaceAll(/[ \t]+$/gm, '')
    assert.ok(printed.includes(shown), stdout)
    assert.match(stdout, /The test is recorded: npx mikro-rest \S+\.mikro/)
  })

  const others = examples.filter(({ text }) => !isTest(text))
  const errors = new Map<string, string | undefined>()
  it('end by themselves', async () => {
    const notes = join(folder, 'notes')
    const { status, stdout, stderr } = execute(...DECORATORS, join(root, 'spec/docs/run-examples.ts'), notes, ...others.map(fileOf))
    for (const line of (await readFile(notes, 'utf8')).trimEnd().split('\n')) {
      const { file, error } = JSON.parse(line) as { file: string; error?: string }
      errors.set(file, error)
    }
    assert.equal(status, 0, stdout + stderr)
  })
  for (const example of others) {
    it(`${example.page}:${example.line} runs`, () => {
      assert.equal(example.marker, 'run')
      assert.ok(errors.has(fileOf(example)), 'an example before has ended the process')
      assert.equal(errors.get(fileOf(example)), undefined)
    })
  }
})

interface Command {
  readonly page: string
  readonly text: string
  readonly line: number
  readonly status: number
  /** The answer that the page shows. */
  readonly prints: string | undefined
}

/** The requests of all shell blocks. A line that ends with a backslash goes on. */
function shellCommands(): Command[] {
  return blocks.flatMap((block, index) => {
    if (block.language !== 'sh' || block.marker === 'guide' || block.marker.startsWith('run configured')) return []
    const [, status = '200'] = /^run(?: (\d+))?$/.exec(block.marker) ?? []
    const next = blocks[index + 1]
    const texts = [...block.text.matchAll(/^(?!#)(?:[^\n]*\\\n)*[^\n]+$/gm)]
    return texts.map(({ 0: text, index: at }, position) => {
      const isLast = position === texts.length - 1
      const line = block.line + block.text.slice(0, at).split('\n').length - 1
      return { page: block.page, text, line, status: Number(status), prints: isLast && next?.marker === 'prints' ? next.text : undefined }
    })
  })
}

const noCurl = spawnSync('curl', ['--version']).error === undefined ? false : 'there is no curl'

describe('examples of requests', { skip: noCurl }, () => {
  const commands = shellCommands()
  let server: RunningCommand
  let outputs: string[]
  before(async () => {
    server = new RunningCommand(root, '--port', '0')
    const origin = await server.origin()
    // One shell runs them, in their order.
    const lines = commands.map(
      ({ text }) => `${text.replaceAll(SHOWN, origin)} --silent --show-error --write-out '\\n%{http_code}' 2>&1; printf '\\0'`,
    )
    outputs = spawnSync('bash', ['-c', lines.join('\n')], { encoding: 'utf8', timeout: 300_000 }).stdout.split('\0')
  })
  after(async () => assert.equal(await server.stop(), 0))

  for (const [index, { page, text, line, status, prints }] of commands.entries()) {
    it(`${page}:${line} is answered with ${status}`, () => {
      assert.match(text, /^curl /)
      const output = outputs[index]!
      const [body = '', code] = output.split(/\n(?=\d+$)/)
      assert.equal(Number(code), status, output)
      const answer = JSON.parse(body) as Record<string, unknown>
      assert.equal(answer['success'], status === 200)
      const records = answer[String(answer['resource'])]
      if (Array.isArray(records)) assert.ok(records.length > 0, 'an example that finds nothing shows nothing')
      if (prints === undefined) return
      const expected = JSON.parse(prints) as Record<string, unknown>
      assert.deepEqual({ ...answer, timestamp: expected['timestamp'] }, expected)
      assert.deepEqual(Object.keys(answer), Object.keys(expected))
    })
  }
})
