/**
 * Runs the guides of docs/testing.md for test runners as a reader would: writes the files below `<!-- file NAME -->` into a folder where
 * the package is installed, then runs the commands below `<!-- guide -->`.
 */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { delimiter, dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { markedBlocks } from './markdown.ts'

/** The port that the guides show. */
const SHOWN = '3100'
/** Packages that readers of the guides install themselves. */
const RUNNERS = ['vitest', 'jest', 'msw', '@playwright/test']
const BROWSERS = ['chromium', 'chromium-browser', 'google-chrome']

/** The folder of the installed package, or the reason why it could not be installed. */
export interface Installed {
  readonly folder: string
  readonly offline: string | undefined
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
        if (command.includes('playwright') && browser === undefined) return t.skip(`there is no ${BROWSERS[0]}`)
        const port = await freePort()
        for (const { name, text } of files) await writeFile(join(folder, name), text.replaceAll(SHOWN, port))
        for (const name of RUNNERS) {
          if (existsSync(join(folder, 'node_modules', name))) continue
          await mkdir(dirname(join(folder, 'node_modules', name)), { recursive: true })
          await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name), 'junction')
        }
        const { code, output } = await run(command, folder, root, browser === undefined ? undefined : await unsandboxed(browser, folder))
        assert.equal(code, 0, output)
      })
    }
  })
}

function findBrowser(): string | undefined {
  return [process.env['CHROMIUM'] ?? '', ...BROWSERS].find(name => name !== '' && spawnSync(name, ['--version']).status === 0)
}

/** Chromium does not run as root in its sandbox, where continuous integration often is. */
async function unsandboxed(browser: string, folder: string): Promise<string> {
  const file = join(folder, 'browser.sh')
  await writeFile(file, `#!/bin/sh\nexec ${browser} --no-sandbox "$@"\n`)
  await chmod(file, 0o755)
  return file
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

function run(command: string, folder: string, root: string, browser: string | undefined): Promise<{ code: number | null; output: string }> {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(?:npm_|INIT_CWD$|NODE_)/.test(name))
  const path = [dirname(process.execPath), join(folder, 'node_modules/.bin'), join(root, 'node_modules/.bin'), process.env['PATH']].join(
    delimiter,
  )
  const env = { ...Object.fromEntries(inherited), PATH: path, CI: 'true', ...(browser === undefined ? {} : { CHROMIUM: browser }) }
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['-c', command.replace('npx ', '')], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text))
    child.once('error', reject)
    child.once('close', code => resolve({ code, output }))
  })
}
