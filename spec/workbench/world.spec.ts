/**
 * The workbench's screen of worlds and faults: what its buttons do, in headless Chromium, and that the lines of code beside them do the
 * same.
 */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { Page } from '@playwright/test'
import { RestEngine } from '../../lib/index.ts'
import sample from '../../fixtures/sample/index.ts'
import { LINES, faultBody, faultLine } from '../../lib/workbench/world/lines.ts'
import type { FaultDraft } from '../../lib/workbench/world/lines.ts'
import { formatBytes, formatSpan } from '../../lib/workbench/world/sizes.ts'
import { NO_BROWSER, borrowBrowser } from '../helpers/chromium.ts'
import type { BorrowedBrowser } from '../helpers/chromium.ts'
import { DESKTOP } from '../helpers/watched-page.ts'
import { PHONE, findFlaws, serveWorkbench, visit } from './browser.ts'

describe('worlds and faults in the workbench', { skip: NO_BROWSER, timeout: 240_000 }, () => {
  let browser: BorrowedBrowser
  let engine: RestEngine
  before(async () => {
    browser = await borrowBrowser()
    engine = await RestEngine.create({ ...sample, scenarios: { empty: {} } })
  })
  beforeEach(() => engine.reset())
  after(() => Promise.all([browser?.close(), engine?.close()]))

  const card = (page: Page, name: string | RegExp) => page.getByRole('region', { name }).filter({ has: page.getByText('In code') })

  it('moves the clock, and shows it in the head', async () => {
    await using server = await serveWorkbench(engine)
    await visit(browser, `${server.origin}/_ui#/world`, { allowed: /status of 400/ }, async page => {
      const clock = card(page, 'Clock')
      await clock.getByRole('textbox', { name: 'Stand still at' }).fill('2026-01-31T12:00:00Z')
      await clock.getByRole('button', { name: 'Set' }).click()
      await page.getByText('Clock stands: 2026-01-31 12:00 UTC').waitFor()
      assert.equal(engine.clock.now().toISOString(), '2026-01-31T12:00:00.000Z')
      assert.equal(await clock.locator('code').textContent(), `engine.clock.set('2026-01-31T12:00:00Z')`)
      await clock.getByRole('button', { name: '+31 days' }).click()
      await page.getByText('Clock stands: 2026-03-03 12:00 UTC').waitFor()
      await clock.getByRole('textbox', { name: 'Stand still at' }).fill('tomorrow')
      await clock.getByRole('button', { name: 'Set' }).click()
      await clock.getByRole('alert').waitFor()
      await clock.getByRole('button', { name: 'Real time' }).click()
      await page.getByText('The clock runs, and shows the real time.').waitFor()
    })
  })

  for (const [colorScheme, viewport] of [
    ['light', DESKTOP],
    ['dark', PHONE],
  ] as const) {
    it(`keeps the data, goes back, and begins anew: ${colorScheme}, ${viewport.width} pixels`, async () => {
      await using server = await serveWorkbench(engine)
      await visit(browser, `${server.origin}/_ui#/world`, { colorScheme, viewport }, async page => {
        const data = card(page, 'Data of main')
        await data.getByRole('textbox', { name: 'Name' }).fill('before')
        await data.getByRole('button', { name: 'Take a snapshot' }).click()
        await data.getByRole('rowheader', { name: 'before' }).waitFor()
        await data.getByRole('button', { name: 'Compare before with now' }).click()
        await data.getByText('Nothing is different since “before”').waitFor()
        await engine.handle('DELETE', '/v1/sites/2')
        await engine.handle('PATCH', '/v1/users/1', undefined, { name: 'Zed' })
        await page.getByRole('link', { name: 'sites 59' }).waitFor()
        await data.getByRole('button', { name: 'Compare before with now' }).click()
        await data.getByRole('heading', { name: /records are different since “before”$/ }).waitFor()
        assert.equal(await data.locator('.code-line code').textContent(), 'await engine.difference(before)')
        await data
          .getByRole('caption')
          .filter({ hasText: /^sites 2 deleted$/ })
          .waitFor()
        await data.getByRole('link', { name: 'users 1', exact: true }).waitFor()
        await data.getByText('Zed').waitFor()
        assert.deepEqual(await findFlaws(page), [])
        await data.getByRole('button', { name: 'Close the difference' }).click()
        await data.getByRole('button', { name: 'Restore before' }).click()
        await page.getByRole('link', { name: 'sites 60' }).waitFor()
        assert.equal(await data.locator('.code-line code').textContent(), 'await engine.restore(before)')
        await data.getByRole('button', { name: 'Begin the scenario empty' }).click()
        await page.getByRole('link', { name: 'sites 0' }).waitFor()
        await data.getByRole('button', { name: 'Reset to the seed' }).click()
        await page.getByRole('link', { name: 'sites 60' }).waitFor()
      })
    })
  }

  it('adds faults, and lets go what a gate holds, by keyboard alone', async () => {
    await using server = await serveWorkbench(engine)
    await visit(browser, `${server.origin}/_ui#/world`, {}, async page => {
      const faults = card(page, 'Faults')
      await faults.getByRole('combobox', { name: 'What' }).focus()
      await page.keyboard.type('hold')
      await page.keyboard.press('Tab')
      await page.keyboard.type('DELETE /v1/sites/*')
      await page.keyboard.press('Tab')
      await page.keyboard.press('Control+a')
      await page.keyboard.press('Delete')
      await page.keyboard.press('Tab')
      await page.keyboard.press('Enter')
      await faults.getByRole('rowheader', { name: /^f\d+$/ }).waitFor()
      assert.match((await faults.locator('.code-line code').textContent())!, /^const fault = engine\.hold\('DELETE \/v1\/sites\/\*'\)$/)
      const held = engine.handle('DELETE', '/v1/sites/3')
      const gate = card(page, 'Held: 1 request waits at a gate')
      await gate.getByRole('button', { name: /^Release/ }).focus()
      await page.keyboard.press('Enter')
      assert.equal((await held).status, 200)
      await gate.waitFor({ state: 'detached' })
      await faults.getByText('No fault is in effect').waitFor()
      assert.deepEqual(engine.faults, [])
    })
  })

  it('says what is wrong with a fault, and shows one of the process, too', async () => {
    await using server = await serveWorkbench(engine)
    await visit(browser, `${server.origin}/_ui#/world`, { allowed: /status of 400/ }, async page => {
      const faults = card(page, 'Faults')
      await faults.getByRole('combobox', { name: 'Requests' }).fill('POST /v1/sitess')
      await faults.getByRole('button', { name: 'Add' }).click()
      await faults.getByRole('alert').waitFor()
      const fault = engine.fail('GET /v1/sites/*', { status: 418, times: 2 })
      await faults.getByText('{ status: 418, times: 2 }').waitFor()
      await engine.handle('GET', '/v1/sites/1')
      await faults.getByRole('button', { name: `End ${fault.id}` }).click()
      await faults.getByText('No fault is in effect').waitFor()
    })
  })

  it('forks worlds, looks at them, and closes them', async () => {
    await using server = await serveWorkbench(engine)
    await visit(browser, `${server.origin}/_ui#/world`, {}, async page => {
      const worlds = card(page, 'Worlds')
      await worlds.getByRole('textbox', { name: 'Name' }).fill('mine')
      await worlds.getByRole('button', { name: 'Fork main' }).click()
      await page.waitForURL(/\?world=mine#\/world$/)
      await worlds.getByRole('row', { name: /mine a fork of main/ }).waitFor()
      await card(page, 'Data of mine').waitFor()
      await worlds.getByRole('button', { name: 'Close mine' }).click()
      await page.waitForURL(/_ui#\/world$/)
      await worlds.getByRole('row', { name: /mine/ }).waitFor({ state: 'detached' })
    })
  })
})

describe('the lines of code beside the buttons', () => {
  const draft: FaultDraft = {
    kind: 'fail',
    match: 'GET /v1/sites/*',
    times: '1',
    status: '503',
    retryAfter: '2',
    after: false,
    ms: '1',
    requests: '1',
    per: '1m',
  }

  it('do what the buttons do', async () => {
    await using engine = await RestEngine.create({ ...sample, scenarios: { empty: {} } })
    const AsyncFunction = (async () => {}).constructor as new (...parts: string[]) => (engine: RestEngine) => Promise<unknown>
    const run = (...lines: string[]): Promise<unknown> => new AsyncFunction('engine', lines.join('\n'))(engine)
    const count = async (): Promise<number> => (await engine.handle('GET', '/v1/sites?limit=1')).body.count as number
    await run(LINES.setClock('2026-01-31T12:00:00Z'), LINES.advance('1d'))
    assert.equal(engine.clock.now().toISOString(), '2026-02-01T12:00:00.000Z')
    await run(LINES.realTime())
    assert.ok(engine.clock.isSystem)
    await run(
      LINES.snapshot('before-checkout'),
      LINES.difference('before-checkout'),
      LINES.scenario('empty'),
      LINES.restore('before-checkout'),
    )
    assert.equal(await count(), 60)
    await run(LINES.scenario('empty'))
    assert.equal(await count(), 0)
    await run(LINES.reset(), LINES.fork('worker-0'), LINES.close('worker-0'))
    assert.equal(await count(), 60)
  })

  it('make the faults that the form makes', async () => {
    await using engine = await RestEngine.create(sample)
    await using server = await serveWorkbench(engine)
    for (const kind of ['fail', 'delay', 'drop', 'hold', 'rateLimit'] as const) {
      const own = { ...draft, kind, after: kind === 'drop' }
      // oxlint-disable-next-line typescript/no-implied-eval -- what is written is code
      const fault = new Function('engine', `${faultLine(own)}\nreturn fault`)(engine) as Disposable
      const [ofLine] = engine.faults
      fault[Symbol.dispose]()
      const body = JSON.stringify(faultBody(own))
      const answer = await fetch(`${server.origin}/_test/faults`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
      assert.equal(answer.status, 200, await answer.text())
      const { id: _own, ...made } = engine.faults[0]!
      const { id: _other, ...expected } = ofLine!
      assert.deepEqual(made, expected)
      await fetch(`${server.origin}/_test/faults`, { method: 'DELETE' })
    }
  })

  it('open, refuse and lose what a gate holds', async () => {
    await using engine = await RestEngine.create(sample)
    const holdLine = faultLine({ ...draft, kind: 'hold', match: 'GET /v1/sites/1' })
    for (const [line, outcome] of [
      [LINES.release(), 200],
      [LINES.failHeld(503), 503],
      [LINES.dropHeld(), 'ECONNRESET'],
      [LINES.endFault(), 200],
    ] as const) {
      // oxlint-disable-next-line typescript/no-implied-eval -- what is written is code
      const gate = new Function('engine', `${holdLine}\nreturn fault`)(engine) as ReturnType<RestEngine['hold']>
      const answer = engine.handle('GET', '/v1/sites/1').then(
        ({ status }) => status,
        (error: { code?: string }) => error.code,
      )
      await gate.arrived
      // oxlint-disable-next-line typescript/no-implied-eval -- what is written is code
      new Function('fault', line)(gate)
      assert.equal(await answer, outcome, line)
      gate.dispose()
    }
  })

  it('are beside sizes and times that one can read', () => {
    assert.deepEqual([999, 229_400, 5_000_000, 2e9].map(formatBytes), ['999 B', '229.4 KB', '5.0 MB', '2.0 GB'])
    assert.deepEqual([10, 4000, 130_000, 7_200_000].map(formatSpan), ['now', '4 s ago', '2 min ago', '2 h ago'])
  })
})
