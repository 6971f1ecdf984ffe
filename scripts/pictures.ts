/**
 * Pictures: which pictures the pages of docs show, and how to come to what each of them shows. `npm run pictures` makes them; a spec
 * compares the list with the pages. The data are those of the sample, and all clocks stand still, so that a picture changes only when its
 * screen does.
 */
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from '@playwright/test'
import type { RestEngine } from '../lib/index.ts'
import { TIME } from './still-clocks.ts'

export interface Picture {
  /** The name of its file in docs/pictures/. */
  readonly name: string
  /** The place in the workbench. */
  readonly place: string
  /** Height in pixels. */
  readonly height: number
  /** Whether a recording is shown, not the sample itself. */
  readonly isRecording?: true
  /** What is done before the picture is taken. */
  readonly act?: (page: Page) => Promise<void>
}

export const PICTURES: readonly Picture[] = [
  {
    name: 'data.webp',
    place: '#/data/sites?category.name=S*&sort=name',
    height: 560,
    async act(page) {
      const row = page.locator('table.records tbody tr').nth(2)
      await row.locator('> *').nth(2).dblclick()
      await page.getByLabel(/^url of site/).fill('https://www.cyclist-weekly-1.example/'.padEnd(210, 'x'))
      await page.keyboard.press('Enter')
      await page
        .getByText(/200 characters/)
        .first()
        .waitFor()
      await page.keyboard.press('Home')
    },
  },
  {
    name: 'requests.webp',
    place: '#/requests',
    height: 600,
    async act(page) {
      await page.locator('.timeline a').filter({ hasText: 'PATCH' }).first().click()
      await page.getByText('Island Forum').first().waitFor()
    },
  },
  { name: 'world.webp', place: '#/world', height: 900 },
  {
    name: 'console.webp',
    place: '#/console/GET?/v1/campaigns?status=active&attributes=name,budget,advertiser&expand=advertiser&limit=1',
    height: 680,
    async act(page) {
      await page.getByRole('button', { name: 'Send', exact: true }).click()
      await page.getByText('As the OpenAPI document says').waitFor()
    },
  },
  {
    name: 'model.webp',
    place: '#/model',
    height: 720,
    act: page => page.getByRole('link', { name: 'Records of domains' }).first().waitFor(),
  },
  {
    name: 'recording.webp',
    place: '#/requests',
    height: 620,
    isRecording: true,
    async act(page) {
      await page.locator('.timeline a').filter({ hasText: '503' }).click()
      await page.getByRole('tab', { name: 'Answer' }).click()
    },
  },
]

/** The file of the recording that is shown. */
export const RECORDING = join(tmpdir(), 'mikro-rest-pictures', 'orders-again.mikro')

/** Brings an engine with the data of the sample to the state that the pictures show. */
export async function prepare(engine: RestEngine): Promise<void> {
  engine.clock.set(TIME)
  // Where somebody listens, the states before requests are kept.
  const listening = new AbortController()
  const events = engine.events({ signal: listening.signal })
  await engine.send('GET /v1/sites?category.name=Travel&sort=name')
  await engine.send('PATCH /v1/sites/2', { body: { name: 'Island Forum and Fair', status: 'blocked' } })
  await engine.send('PATCH /v1/sites/2', { body: { status: 'closed' } })
  engine.mark('test "takes an order again after 503" began')
  engine.fail('POST /v1/campaigns', { status: 503, headers: { 'Retry-After': '1' }, times: 2 })
  const campaign = { name: 'Spring', advertiser: 4, budget: '250.00', starts_on: '2026-03-01', ends_on: '2026-03-31' }
  await engine.send('POST /v1/campaigns', { body: campaign })
  await engine.send('POST /v1/domains', { body: { hostname: 'fair.example.com', site: 2 } })
  await engine.send('GET /v1/domains?site=2')
  await engine.send('DELETE /v1/domains/5')
  await engine.send('GET /v1/campaigns?stats=done')
  await engine.record(RECORDING, { test: 'takes an order again after 503', failure: 'expected status 200, got 503' })
  engine.hold('POST /v1/users')
  listening.abort()
  await events.return?.()
}
