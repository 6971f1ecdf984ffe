/** The docs page in headless Chromium: light and dark, on a desktop and on a phone, by keyboard, for axe, with and without Swagger UI. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { after, before, describe, it } from 'node:test'
import { chromium } from '@playwright/test'
import type { Browser, BrowserContextOptions, Page } from '@playwright/test'
import { defineEntity, p } from '@mikro-orm/core'
import axe from 'axe-core'
import { auth, hashPassword, RestEngine } from '../../lib/index.ts'
import sample from '../../fixtures/sample/index.ts'
import { serveDocs } from './served.ts'

const BROWSERS = [process.env['CHROMIUM'] ?? '', 'chromium', 'chromium-browser', 'google-chrome']
const found = BROWSERS.find(name => name !== '' && spawnSync(name, ['--version']).status === 0)
const executablePath = found === undefined ? undefined : spawnSync('sh', ['-c', `command -v ${found}`], { encoding: 'utf8' }).stdout.trim()
const DESKTOP = { width: 1280, height: 900 }
const PHONE = { width: 360, height: 740 }
/** Each scheme of colours and each size, once: what axe finds of colours is the same on each size. All of them with SPEC_TARGETS=every. */
const LOOKS = [
  ['light', DESKTOP],
  ['dark', PHONE],
  ...(process.env['SPEC_TARGETS'] === 'every'
    ? ([
        ['light', PHONE],
        ['dark', DESKTOP],
      ] as const)
    : []),
] as const

describe('the docs page in a browser', { skip: executablePath === undefined ? 'there is no Chromium' : false, timeout: 240_000 }, () => {
  let browser: Browser
  let engine: RestEngine
  before(async () => {
    // As root, where continuous integration often is, Chromium does not run in its sandbox.
    const args = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update', '--disable-sync']
    browser = await chromium.launch({ executablePath: executablePath!, args })
    engine = await RestEngine.create(sample)
  })
  after(() => Promise.all([browser?.close(), engine?.close()]))

  /** Opens a page; at the end it has asked no other host, and has complained of nothing. */
  async function open(address: string, options: BrowserContextOptions, use: (page: Page) => Promise<void>, allowed = /^$/): Promise<void> {
    const context = await browser.newContext({ ...options, permissions: ['clipboard-read', 'clipboard-write'] })
    const page = await context.newPage()
    const complaints: string[] = []
    const others: string[] = []
    page.on('console', message => {
      if (message.type() === 'error' && !allowed.test(message.text())) complaints.push(message.text())
    })
    page.on('pageerror', error => complaints.push(String(error)))
    page.on('request', request => {
      if (!request.url().startsWith(new URL(address).origin) && !request.url().startsWith('data:')) others.push(request.url())
    })
    try {
      await page.goto(address)
      await use(page)
      assert.deepEqual({ complaints, others }, { complaints: [], others: [] })
    } finally {
      await context.close()
    }
  }

  /** What axe finds. */
  async function findFlaws(page: Page): Promise<unknown[]> {
    await page.evaluate(axe.source)
    const { violations } = await page.evaluate(async () => (globalThis as unknown as { axe: typeof axe }).axe.run())
    return violations.map(({ id, impact, nodes }) => ({ id, impact, at: nodes.slice(0, 3).map(({ html }) => html) }))
  }

  for (const [colorScheme, viewport] of LOOKS) {
    it(`has no flaw that axe finds in Swagger UI: ${colorScheme}, ${viewport.width} pixels`, async () => {
      await using server = await serveDocs(engine)
      await open(`${server.origin}/docs`, { colorScheme, viewport }, async page => {
        await page.locator('.opblock').first().waitFor()
        assert.deepEqual(await findFlaws(page), [])
      })
    })

    it(`has no flaw that axe finds, and no line that runs out of it: ${colorScheme}, ${viewport.width} pixels`, async () => {
      await using server = await serveDocs(engine)
      await open(`${server.origin}/docs/model`, { colorScheme, viewport }, async page => {
        await page.evaluate(`document.querySelectorAll('details').forEach(details => { details.open = true })`)
        assert.deepEqual(await findFlaws(page), [])
        const [scrollWidth, clientWidth] = (await page.evaluate(
          `['scrollWidth', 'clientWidth'].map(name => document.documentElement[name])`,
        )) as [number, number]
        assert.ok(scrollWidth <= clientWidth, `${scrollWidth} > ${clientWidth}`)
        const ground = await page.evaluate('getComputedStyle(document.body).backgroundColor')
        assert.equal(ground, colorScheme === 'light' ? 'rgb(255, 255, 255)' : 'rgb(20, 24, 31)')
        // The rules of style reach the diagram.
        const line = await page.evaluate(`getComputedStyle(document.querySelector('.picture .line')).fill`)
        assert.equal(line, 'none')
      })
    })
  }

  it('is used by keyboard, and copies commands', async () => {
    await using server = await serveDocs(engine)
    await open(`${server.origin}/docs/model`, { viewport: DESKTOP }, async page => {
      await page.keyboard.press('Tab')
      assert.equal(await page.evaluate('document.activeElement.textContent'), 'Skip to the content')
      await page.keyboard.press('Enter')
      assert.equal(await page.evaluate('document.activeElement.id'), 'main')
      const copy = page.getByRole('button', { name: 'Copy: List users', exact: true })
      await copy.focus()
      await page.keyboard.press('Enter')
      await page.getByText('Copied').waitFor()
      const text = await page.evaluate('navigator.clipboard.readText()')
      assert.equal(text, `curl '${server.origin}/v1/users?limit=5'`)
    })
  })

  it('starts Swagger UI, which asks no other host and sends requests', async () => {
    await using server = await serveDocs(engine)
    // It draws what is in sight alone.
    await open(`${server.origin}/docs`, { viewport: { width: 1280, height: 3000 }, colorScheme: 'dark' }, async page => {
      await page.locator('#operations-users-listUsers').waitFor()
      assert.equal(await page.evaluate('document.documentElement.className'), 'dark-mode')
      const list = page.locator('#operations-users-listUsers')
      await list.locator('button.opblock-summary-control').click()
      await list.getByRole('button', { name: 'Try it out' }).click()
      await list.locator('tr[data-param-name="name~"] input').fill('a*')
      await list.getByRole('button', { name: 'Execute' }).click()
      const answer = list.locator('.live-responses-table .response .highlight-code').first()
      await answer.waitFor()
      assert.match((await answer.textContent())!, /"count": \d+/)
      assert.match((await list.locator('.request-url').textContent())!, /name~=a%2A/)
    })
  })

  it('lets readers log in, and out', async () => {
    const User = defineEntity({
      name: 'User',
      properties: { id: p.integer().primary(), email: p.string(), passwordHash: p.string().hidden() },
    })
    await using guarded = await RestEngine.create({
      entities: [User],
      auth: auth({ entity: User, identifier: 'email', password: 'passwordHash' }),
      seed: { users: [{ email: 'ann@example.com', passwordHash: await hashPassword('secret') }] },
    })
    await using server = await serveDocs(guarded)
    const refusals = /status of 401/
    for (const [path, shown] of [
      ['/docs/model', '#resource-users'],
      ['/docs', '.opblock'],
    ] as const) {
      await open(
        server.origin + path,
        { viewport: PHONE },
        async page => {
          assert.deepEqual(await findFlaws(page), [])
          await page.getByLabel('email').fill('ann@example.com')
          await page.getByLabel('passwordHash').fill('wrong')
          await page.keyboard.press('Enter')
          await page.locator('.problem:not(:empty)').waitFor()
          await page.getByLabel('passwordHash').fill('secret')
          await page.keyboard.press('Enter')
          await page.locator(shown).first().waitFor()
          await page.reload()
          await page.locator(shown).first().waitFor()
          await page.getByRole('button', { name: 'Log out', exact: true }).click()
          await page.getByRole('heading', { name: 'Log in' }).waitFor()
        },
        refusals,
      )
    }
  })
})
