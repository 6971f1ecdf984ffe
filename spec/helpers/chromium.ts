/**
 * Headless Chromium for specs: one for all files of a process, since to start one, and a page in it, costs as much as to use it. It is
 * closed behind the last file.
 */
import { spawnSync } from 'node:child_process'
import { chromium } from '@playwright/test'
import type { Browser } from '@playwright/test'
import { filesFollow, onLastFile } from '../../scripts/specs/last-file.ts'
import { BROWSERS, SWITCHES } from './chromium-switches.ts'

const found = BROWSERS.find(name => name !== '' && spawnSync(name, ['--version']).status === 0)

/** Why there is no browser; false where there is one. */
export const NO_BROWSER: string | false = found === undefined ? 'there is no Chromium' : false

let running: Promise<Browser> | undefined
/** How many have borrowed it. */
let borrowers = 0

/** The browser of the process; `close` gives it back. */
export interface BorrowedBrowser {
  readonly browser: Browser
  readonly close: () => Promise<void>
}

export async function borrowBrowser(): Promise<BorrowedBrowser> {
  borrowers++
  // It may have crashed.
  if ((await running)?.isConnected() !== true) running = start()
  const browser = await running!
  let isGivenBack = false
  return {
    browser,
    close: async () => {
      if (!isGivenBack) borrowers--
      isGivenBack = true
      if (!filesFollow()) await end()
    },
  }
}

function start(): Promise<Browser> {
  const executablePath = spawnSync('sh', ['-c', `command -v ${found}`], { encoding: 'utf8' }).stdout.trim()
  // It ends by itself when this process does, by whatever signal: the pipe between them closes. Files after this one find no listeners.
  return chromium.launch({ executablePath, args: SWITCHES, handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false })
}

async function end(): Promise<void> {
  if (borrowers > 0) return
  const ended = running
  running = undefined
  await (await ended)?.close()
}

onLastFile(() => void end())
