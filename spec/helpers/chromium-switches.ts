/**
 * What Chromium is told in specs, so that it does what they look at and little else: `chromium.ts` starts it so, and a script does for
 * those who start the browser that they are given, such as Playwright's own runner.
 */
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The browsers that are looked for. */
export const BROWSERS = [process.env['CHROMIUM'] ?? '', 'chromium', 'chromium-browser', 'google-chrome']

/** Pages of the browser's own window, of a hundred scripts each, which nobody sees, and a process that waits for a page to come. */
const OWN_FEATURES = 'WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup,PreloadTopChromeWebUI,SpareRendererForSitePerProcess'
/** What Playwright turns off itself: its list is replaced. A browser ignores names that it does not know. */
const FEATURES_OF_PLAYWRIGHT =
  'AvoidUnnecessaryBeforeUnloadCheckSync,DestroyProfileOnBrowserClose,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,LensOverlay,' +
  'MediaRouter,PaintHolding,ThirdPartyStoragePartitioning,AvoidCorsURLLoaderRestartOnRedirect,TcpPortRandomizationWin,OptimizationHints,' +
  'NetworkTimeServiceQuerying,AimEnabled,PreconnectToSearch'

export const SWITCHES = [
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

/** Writes a script into a folder, which starts the browser with the switches behind those that it is given: they prevail. */
export async function scriptOf(browser: string, folder: string): Promise<string> {
  const file = join(folder, 'browser.sh')
  await writeFile(file, `#!/bin/sh\nexec ${browser} "$@" ${SWITCHES.join(' ')}\n`)
  await chmod(file, 0o755)
  return file
}
