/**
 * The guides for pages of docs/page-guides.md and docs/storybook.md: their files as they stand there. With SPEC_GUIDES=1 the package,
 * React, Vitest, Playwright and Storybook are installed (230 MB), and run as the guides say, in Chromium.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import type { Page } from '@playwright/test'
import { BROWSERS, scriptOf } from '../helpers/chromium-switches.ts'
import { NO_BROWSER, borrowBrowser } from '../helpers/chromium.ts'
import { ROOT } from '../helpers/command.ts'
import { markedBlocks } from '../helpers/markdown.ts'
import { userEnvironment } from '../helpers/user-environment.ts'
import { servePage } from '../page/serve-page.ts'

const MINUTES = 60_000
const PAGES = ['browser', 'page-guides', 'storybook']
/** What their readers have already. */
const STORYBOOK = ['storybook@10', '@storybook/react-vite@10', '@playwright/test']
const skip = process.env['SPEC_GUIDES'] === '1' ? NO_BROWSER : 'what the guides need is installed with SPEC_GUIDES=1'

describe('the guides for pages', { skip, timeout: 20 * MINUTES }, () => {
  let folder: string
  let browser: string
  let guides = ''
  before(
    async () => {
      folder = await mkdtemp(join(tmpdir(), 'mikro-rest-page-guides-'))
      const found = BROWSERS.find(name => name !== '' && spawnSync(name, ['--version']).status === 0)!
      browser = await scriptOf(found, folder)
      await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
      const packed = execute('npm', ['pack', '--silent', '--pack-destination', folder], ROOT)
      const lines: string[] = []
      for (const page of PAGES) {
        const text = await readFile(join(ROOT, `docs/${page}.md`), 'utf8')
        guides += text
        lines.push(...(text.match(/^npm install .+$/gm) ?? []))
        for (const { marker, text: content } of markedBlocks(text)) {
          if (!marker.startsWith('file ')) continue
          const file = join(folder, marker.slice('file '.length))
          await mkdir(dirname(file), { recursive: true })
          // The guides for pages stand behind that of the page: a name of both is theirs.
          await writeFile(file, content)
        }
      }
      const names = lines.flatMap(line => line.split(' ').filter(word => !/^(?:npm|install|--.*|mikro-rest)$/.test(word)))
      const tarball = join(folder, packed.trim().split('\n').at(-1)!)
      execute('npm', ['install', '--no-audit', '--no-fund', tarball, ...names, ...STORYBOOK], folder)
    },
    { timeout: 10 * MINUTES },
  )
  after(() => rm(folder, { recursive: true, force: true }))

  /** Runs a command that the guides show. */
  function run(command: string): string {
    assert.ok(guides.includes(command), command)
    const variables = { CHROMIUM: browser, STORYBOOK_DISABLE_TELEMETRY: '1' }
    return stripVTControlCharacters(execute('npx', command.split(' ').slice(1), folder, variables))
  }

  /** Shows a page of a folder that is served below a path, as a static host does. */
  async function visit(name: string, path: string, look: (page: Page) => Promise<void>): Promise<void> {
    const served = await servePage(join(folder, name), '/demo')
    const borrowed = await borrowBrowser()
    const context = await borrowed.browser.newContext()
    try {
      const page = await context.newPage()
      await page.goto(`${served.address}demo/${path}`)
      await look(page)
    } finally {
      await context.close()
      await borrowed.close()
      await served.close()
    }
  }

  it('build a demo that runs below any path', async () => {
    run('npx vite build --mode demo')
    await visit('dist', '', async page => {
      await page.getByText('Ann, Bob').waitFor()
      await page.getByRole('button').click()
      await page.getByText('Ann, Bob, Cid').waitFor()
    })
  })

  it('build an app without the engine', async () => {
    run('npx vite build')
    const files = await readdir(join(folder, 'dist'), { recursive: true })
    assert.deepEqual(
      files.filter(name => /wasm|backend/.test(name)),
      [],
    )
    for (const name of files.filter(file => file.endsWith('.js')))
      assert.doesNotMatch(await readFile(join(folder, 'dist', name), 'utf8'), /mikro/i, name)
  })

  it('run the tests of Vitest in the browser', () => {
    assert.match(run('npx vitest run'), /Tests {2}3 passed/)
  })

  it('run the tests of Playwright', () => {
    assert.match(run('npx playwright test'), /1 passed/)
  })

  it('build stories of which each begins with the seed', async () => {
    run('npx storybook build')
    await visit('storybook-static', '?path=/story/users--more', async page => {
      const shown = page.frameLocator('#storybook-preview-iframe').getByRole('status')
      const stories = { Seeded: 'Ann, Bob', More: 'Ann, Bob, Eve', Closed: 'Closed' }
      for (const story of ['More', 'Seeded', 'Closed', 'More'] as const) {
        await page.getByRole('link', { name: story, exact: true }).click()
        await shown.getByText(stories[story], { exact: true }).waitFor()
      }
    })
  })
})

function execute(command: string, args: readonly string[], cwd: string, variables: NodeJS.ProcessEnv = {}): string {
  const env = { ...userEnvironment(), CI: '1', ...variables }
  return execFileSync(command, args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], timeout: 5 * MINUTES })
}
