/** A recording in the workbench: from a failed test to the row that it is about, sent again, and back to the data before the test. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import sample from '../../fixtures/sample/index.ts'
import { RestEngine } from '../../lib/index.ts'
import { Command } from '../helpers/command.ts'
import { NO_BROWSER, borrowBrowser } from '../helpers/chromium.ts'
import type { BorrowedBrowser } from '../helpers/chromium.ts'
import { visit } from './browser.ts'

describe('a recording in the workbench', { skip: NO_BROWSER, timeout: 120_000 }, () => {
  let browser: BorrowedBrowser
  const folder = mkdtempSync(join(tmpdir(), 'workbench-recording-'))
  before(async () => {
    browser = await borrowBrowser()
    await using engine = await RestEngine.create(sample)
    await engine.handle('GET', '/v1/users/1')
    await engine.handle('PATCH', '/v1/users/1', undefined, { name: 'Zed' })
    engine.fail('GET /v1/sites', { status: 503 })
    await engine.handle('GET', '/v1/sites')
    await engine.record(join(folder, 'failed.mikro'), { test: 'renames a user', failure: 'expected "Ann", got "Zed"' })
  })
  after(async () => {
    await browser?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  it('leads to the row in three clicks, sends the request again, and goes back to the data before the test', async () => {
    await using command = new Command(folder, 'failed.mikro', '--port', '0')
    const origin = await command.origin()
    const nameNow = async (): Promise<unknown> => {
      const answer = (await (await fetch(`${origin}/v1/users/1`)).json()) as { user: { name: string } }
      return answer.user.name
    }
    const untilNamed = async (name: string): Promise<void> => {
      for (let tries = 0; tries < 50 && (await nameNow()) !== name; tries++) await wait(100)
      assert.equal(await nameNow(), name)
    }
    await untilNamed('Ann Archer')
    await visit(browser, `${origin}/_ui`, {}, async page => {
      await page.evaluate(`clicks = 0; addEventListener('click', () => clicks++, true)`)
      await page.getByRole('link', { name: 'Requests', exact: true }).click()
      await page.getByText('The test “renames a user” has failed').waitFor()
      await page.getByText('expected "Ann", got "Zed"').waitFor()
      await page.locator('.timeline a').filter({ hasText: '503' }).filter({ hasText: 'fault f1' }).waitFor()
      await page.locator('.timeline a').filter({ hasText: 'PATCH' }).click()
      await page.getByText('Ann Archer').first().waitFor()
      await page.getByText('Zed').first().waitFor()
      await page.getByRole('link', { name: 'users 1', exact: true }).click()
      await page.getByRole('complementary').getByRole('heading', { name: 'user 1' }).waitFor()
      assert.equal(await page.evaluate('clicks'), 3)
      await page.goBack()
      await page.getByRole('button', { name: 'Send again' }).click()
      await untilNamed('Zed')
      await page.getByRole('link', { name: 'World and faults', exact: true }).click()
      await page.getByRole('row').filter({ hasText: 'before' }).getByRole('button', { name: 'Restore' }).click()
      await untilNamed('Ann Archer')
    })
  })
})
