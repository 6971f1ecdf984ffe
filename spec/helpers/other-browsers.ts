/**
 * Browsers of other makers than Chromium's, for specs that bring a page of their own: Firefox, and WebKit (the engine of Safari) in the
 * MiniBrowser of WebKitGTK. Debian has them in `firefox-esr`, and in `webkit2gtk-driver` with `xvfb`. No driver: the page does all itself.
 */
import { spawn, spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { userEnvironment } from './user-environment.ts'

export interface OtherBrowser {
  readonly name: string
  /** Why the browser is not here; false where it is. */
  readonly missing: string | false
  /** Shows a page, with a profile of its own, until the end. */
  open(address: string): Promise<{ close(): Promise<void> }>
}

const finds = (command: string): boolean => spawnSync('sh', ['-c', `command -v ${command}`]).status === 0

function findFirefox(): string | undefined {
  return ['firefox-esr', 'firefox'].find(finds)
}

function findWebKit(): string | undefined {
  return finds('xvfb-run') ? globSync('/usr/{lib,libexec}/{*/,}webkit2gtk-4.*/MiniBrowser').toSorted().at(-1) : undefined
}

/** What Firefox would ask of its maker, and show at a first start. */
const PREFERENCES = {
  'app.update.enabled': false,
  'browser.shell.checkDefaultBrowser': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'services.settings.server': 'http://127.0.0.1:9/',
  'startup.homepage_welcome_url': '',
  'toolkit.telemetry.enabled': false,
}

function browser(
  name: string,
  command: string | undefined,
  needed: string,
  start: (folder: string, address: string) => string[],
): OtherBrowser {
  return {
    name,
    missing: command === undefined ? `there is no ${name}: ${needed}` : false,
    async open(address) {
      const home = await mkdtemp(join(tmpdir(), 'mikro-rest-browser-'))
      const preferences = Object.entries(PREFERENCES).map(([key, value]) => `user_pref(${JSON.stringify(key)}, ${JSON.stringify(value)});`)
      await writeFile(join(home, 'user.js'), preferences.join('\n'))
      const [program, ...args] = start(home, address)
      // A group of its own: a browser is many processes.
      const started = spawn(program!, args, {
        env: { ...userEnvironment(), HOME: home, XDG_RUNTIME_DIR: home },
        stdio: 'ignore',
        detached: true,
      })
      const ended = new Promise<void>(resolve => started.once('exit', () => resolve()))
      return {
        async close() {
          if (started.exitCode === null && started.signalCode === null) process.kill(-started.pid!, 'SIGTERM')
          await ended
          await rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
        },
      }
    },
  }
}

const [firefox, webKit] = [findFirefox(), findWebKit()]

export const OTHER_BROWSERS: readonly OtherBrowser[] = [
  browser('Firefox', firefox, 'apt-get install firefox-esr', (home, address) => [
    firefox!,
    '--headless',
    '--no-remote',
    '--profile',
    home,
    address,
  ]),
  browser('WebKit', webKit, 'apt-get install webkit2gtk-driver xvfb', (_, address) => ['xvfb-run', '-a', webKit!, address]),
]
