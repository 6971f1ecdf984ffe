/**
 * Runs the guides of docs/testing.md for test runners, and those of docs/mounting.md, as a reader would: writes the files below `<!-- file
 * NAME -->` into a project of `npm init -y` where the package is installed, then runs the commands below `<!-- guide -->`.
 */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { delimiter, dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { BROWSERS, scriptOf } from './chromium-switches.ts'
import { markedBlocks } from './markdown.ts'

/** The port that the guides show. */
const SHOWN = '3100'
/** Packages that readers of the guides install themselves. */
const RUNNERS = ['vitest', 'jest', 'msw', '@playwright/test']
/** What those of the guides of mounting install, and what they need. */
const APPS = [
  'express',
  'fastify',
  'hono',
  'vite',
  'tsx',
  '@mikro-orm/nestjs',
  '@nestjs/common',
  '@nestjs/core',
  '@nestjs/platform-express',
  'reflect-metadata',
  'rxjs',
]
/** What `npm init -y` says of the project, where the runners and the packages are in the folder above. */
export const PROJECT = JSON.stringify({ name: 'project', version: '1.0.0', main: 'index.js', type: 'commonjs' })

/** The folder of the installed package, or the reason why it could not be installed. */
export interface Installed {
  readonly folder: string
  readonly offline: string | undefined
}

/** Makes a project below the folder of the installed package, which has these packages of the repository as well. */
async function makeProject(folder: string, root: string, packages: readonly string[]): Promise<string> {
  const project = join(folder, 'project')
  await mkdir(project, { recursive: true })
  await writeFile(join(project, 'package.json'), PROJECT)
  for (const name of packages) {
    const link = join(folder, 'node_modules', name)
    if (existsSync(link)) continue
    await mkdir(dirname(link), { recursive: true })
    await symlink(join(root, 'node_modules', name), link, 'junction')
  }
  return project
}

/** The examples that need more than a file: readme.spec.ts runs all of them, as files of a project. */
export function describeApps(mounting: string, root: string, installed: () => Installed): void {
  const shown = markedBlocks(mounting).filter(({ marker }) => marker === 'run')

  describe('the guides for apps', { timeout: 600_000 }, () => {
    it('run in NestJS as the page says', async t => {
      const { folder, offline } = installed()
      if (offline !== undefined) return t.skip(offline)
      const project = await makeProject(folder, root, APPS)
      const [nest] = shown.filter(({ text }) => text.includes('@nestjs/core'))
      await writeFile(join(project, 'main.mts'), nest!.text)
      const command = /^echo .* > tsconfig\.json\nnpx tsx main\.mts$/m.exec(mounting)![0]
      const { code, output } = await run(command, project, folder, root)
      assert.equal(code, 0, output)
    })

    it('run in Vite, from its configuration', async t => {
      const { folder, offline } = installed()
      if (offline !== undefined) return t.skip(offline)
      const project = await makeProject(folder, root, APPS)
      const { text } = markedBlocks(mounting).find(({ marker }) => marker === 'file vite.config.mjs')!
      await writeFile(join(project, 'vite.config.mjs'), text)
      const port = await freePort()
      const vite = spawn(
        process.execPath,
        [join(root, 'node_modules/vite/bin/vite.js'), '--port', port, '--strictPort', '--host', '127.0.0.1'],
        {
          cwd: project,
          stdio: 'ignore',
        },
      )
      try {
        const { next } = await ask(`http://127.0.0.1:${port}/api/users?limit=1`)
        assert.equal(next, '/api/users?limit=1&offset=1')
      } finally {
        vite.kill()
      }
    })
  })
}

/** The requests of the sample that docs/customising.md shows, to be served by the installed command. */
export function describeSample(page: string, root: string, installed: () => Installed): void {
  const origin = /http:\/\/127\.0\.0\.1:3001/g
  const all = markedBlocks(page)
  const requests = all.filter(({ marker }) => marker.startsWith('run configured'))
  const start = /^npx mikro-rest (\S+) --port 3001$/m.exec(page)

  describe('the configured sample of the guide', { timeout: 120_000 }, () => {
    it('is served from the file that the page shows, and answers as the page says', async t => {
      const { folder, offline } = installed()
      if (offline !== undefined) return t.skip(offline)
      if (spawnSync('curl', ['--version']).error !== undefined) return t.skip('there is no curl')
      const file = start![1]!
      const project = await makeProject(folder, root, [])
      await writeFile(join(project, file), all.find(({ marker }) => marker === `file ${file}`)!.text)
      const port = await freePort()
      const server = spawn(process.execPath, [join(folder, 'node_modules/mikro-rest/bin/serve.js'), file, '--port', port, '--quiet'], {
        cwd: project,
        stdio: 'ignore',
      })
      try {
        await ask(`http://127.0.0.1:${port}/v1/posts`)
        assert.equal(requests.length, 2)
        for (const { marker, text, line } of requests) {
          // As written, but for the port; curl tells the status of each on standard error.
          const quiet = `curl() { command curl --silent --show-error --write-out '%{stderr}%{http_code}\\n' "$@"; }`
          const script = `set -e -o pipefail\n${quiet}\n${text.replaceAll(origin, `http://127.0.0.1:${port}`)}`
          const { status: code, stdout, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8', timeout: 60_000 })
          assert.equal(code, 0, `line ${line}: ${stdout}${stderr}`)
          const status = /\d+$/.exec(marker)?.[0] ?? '200'
          const count = text.match(/\bcurl /g)?.length ?? 0
          assert.deepEqual(
            stderr.trim().split('\n'),
            Array.from({ length: count }, () => status),
            `line ${line}: ${stdout}`,
          )
          assert.ok(!stdout.includes('"count":0'), 'an example that finds nothing shows nothing')
        }
      } finally {
        server.kill()
      }
    })
  })
}

/** Asks a server that is starting. */
async function ask(url: string): Promise<{ readonly next?: unknown }> {
  for (let waited = 0; waited < 60_000; waited += 100) {
    const response = await fetch(url).catch(() => undefined)
    if (response?.ok === true) return (await response.json()) as { next?: unknown }
    await wait(100)
  }
  throw new Error(`${url} has not answered.`)
}

/** @param root folder of this repository, which has the runners */
export function describeGuides(readme: string, root: string, installed: () => Installed): void {
  const blocks = markedBlocks(readme)
  const files = blocks.flatMap(({ marker, text }) => (marker.startsWith('file ') ? [{ name: marker.slice('file '.length), text }] : []))
  const commands = blocks.flatMap(({ marker, text }) => (marker === 'guide' ? text.trim().split('\n') : []))

  describe('the guides', { timeout: 1_800_000 }, () => {
    it('are there for each runner', () => {
      for (const runner of ['node --test', 'vitest', 'jest', 'msw', 'playwright'])
        assert.ok(
          commands.some(command => command.includes(runner)),
          runner,
        )
    })

    for (const command of commands) {
      it(command, async t => {
        const { folder, offline } = installed()
        if (offline !== undefined) return t.skip(offline)
        const browser = command.includes('playwright') ? findBrowser() : undefined
        if (command.includes('playwright') && browser === undefined) return t.skip('there is no Chromium')
        const port = await freePort()
        const project = await makeProject(folder, root, RUNNERS)
        for (const { name, text } of files) await writeFile(join(project, name), text.replaceAll(SHOWN, port))
        const { code, output } = await run(
          command,
          project,
          folder,
          root,
          browser === undefined ? undefined : await scriptOf(browser, folder),
        )
        assert.equal(code, 0, output)
      })
    }
  })
}

function findBrowser(): string | undefined {
  return BROWSERS.find(name => name !== '' && spawnSync(name, ['--version']).status === 0)
}

function freePort(): Promise<string> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(String(port)))
    })
  })
}

function run(
  command: string,
  project: string,
  folder: string,
  root: string,
  browser?: string,
): Promise<{ code: number | null; output: string }> {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(?:npm_|INIT_CWD$|NODE_(?!COMPILE_CACHE$))/.test(name))
  const path = [dirname(process.execPath), join(folder, 'node_modules/.bin'), join(root, 'node_modules/.bin'), process.env['PATH']].join(
    delimiter,
  )
  const env = { ...Object.fromEntries(inherited), PATH: path, CI: 'true', ...(browser === undefined ? {} : { CHROMIUM: browser }) }
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['-c', command.replace('npx ', '')], {
      cwd: project,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 300_000,
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text))
    child.once('error', reject)
    child.once('close', code => resolve({ code, output }))
  })
}
