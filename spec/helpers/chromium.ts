/**
 * Headless Chromium for specs: one for all files of a process, since to start one, and a page in it, costs as much as to use it. It is
 * closed behind the last file.
 */
import { spawnSync } from 'node:child_process'
import { chromium } from '@playwright/test'
import type { Browser } from '@playwright/test'
import { filesFollow, onLastFile } from '../../scripts/specs/last-file.ts'

const BROWSERS = [process.env['CHROMIUM'] ?? '', 'chromium', 'chromium-browser', 'google-chrome']
const found = BROWSERS.find(name => name !== '' && spawnSync(name, ['--version']).status === 0)

/** Why there is no browser; false where there is one. */
export const NO_BROWSER: string | false = found === undefined ? 'there is no Chromium' : false

/** Pages of the browser's own window, of a hundred scripts each, which nobody sees, and a process that waits for a page to come. */
const OWN_FEATURES = 'WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup,PreloadTopChromeWebUI,SpareRendererForSitePerProcess'
/** What Playwright turns off itself: its list is replaced. A browser ignores names that it does not know. */
const FEATURES_OF_PLAYWRIGHT =
  'AvoidUnnecessaryBeforeUnloadCheckSync,DestroyProfileOnBrowserClose,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,LensOverlay,' +
  'MediaRouter,PaintHolding,ThirdPartyStoragePartitioning,AvoidCorsURLLoaderRestartOnRedirect,TcpPortRandomizationWin,OptimizationHints,' +
  'NetworkTimeServiceQuerying,AimEnabled,PreconnectToSearch'

const SWITCHES = [
  // As root, where continuous integration often is, Chromium does not run in its sandbox.
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  `--disable-features=${OWN_FEATURES},${FEATURES_OF_PLAYWRIGHT}`,
  // All pages are ours, and one is open at a time: they share a process, which draws, too, and keeps what it has compiled.
  '--renderer-process-limit=1',
  '--disable-site-isolation-trials',
  '--in-process-gpu',
  // A visit is over before code pays that has been compiled well.
  '--js-flags=--invocation-count-for-maglev=4000',
]

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
