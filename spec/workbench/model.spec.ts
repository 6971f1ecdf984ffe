/** The workbench's screen of the model, in headless Chromium: a diagram that opens data, a search, and requests that run. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser } from '@playwright/test'
import { RestEngine } from '../../lib/index.ts'
import sample from '../../fixtures/sample/index.ts'
import type { Outline } from '../../lib/description/outline/outline.ts'
import { listExamples, matches, operatorsOf } from '../../lib/workbench/model/examples.ts'
import { NO_BROWSER, PHONE, launch, serveWorkbench, visit } from './browser.ts'

const NAMES = { limit: 'limit', offset: 'offset', sort: 'sort', depth: 'depth', attributes: 'attributes', expand: 'expand' }

describe('the model in the workbench', { skip: NO_BROWSER, timeout: 120_000 }, () => {
  let browser: Browser
  let engine: RestEngine
  before(async () => {
    browser = await launch()
    engine = await RestEngine.create(sample)
  })
  after(() => Promise.all([browser?.close(), engine?.close()]))

  it('is a diagram whose boxes open their records', async () => {
    await using server = await serveWorkbench(engine)
    await visit(browser, `${server.origin}/_ui#/model`, {}, async page => {
      const box = page.getByRole('region', { name: 'Diagram' }).getByRole('link', { name: 'Records of domains' })
      await box.focus()
      await page.keyboard.press('Enter')
      await page.waitForURL(/#\/data\/domains$/)
      await page.goBack()
      await page.getByRole('searchbox', { name: 'Search' }).fill('hostname')
      await page.getByText('1 of 9').waitFor()
    })
  })

  it('has a page for each resource, with requests that open in the console and run', async () => {
    await using server = await serveWorkbench(engine)
    await visit(browser, `${server.origin}/_ui#/model/sites`, { viewport: PHONE, colorScheme: 'dark' }, async page => {
      await page.getByRole('rowheader', { name: 'publisher' }).waitFor()
      await page.getByRole('link', { name: 'Send: those whose status is pending' }).click()
      await page.getByRole('button', { name: 'Send' }).click()
      await page.getByRole('heading', { name: '200 in' }).waitFor()
    })
  })
})

describe('requests to try', () => {
  it('are right for every resource of the sample, but that what a new record links must be chosen', async () => {
    await using engine = await RestEngine.create(sample)
    await using server = await serveWorkbench(engine)
    const { resources } = (await (await fetch(`${server.origin}/_ui/outline.json`)).json()) as Outline
    for (const resource of resources) {
      const list = (await engine.send(`GET /v1/${resource.name}?limit=1`)).body as unknown as Record<string, { id: string | number }[]>
      for (const { request, does } of listExamples(resource, `/v1/${resource.name}`, String(list[resource.name]![0]!.id), NAMES)) {
        await using world = await engine.fork()
        const { status, body } = await world.send(
          `${request.method} ${request.target}`,
          request.body === '' ? {} : { body: JSON.parse(request.body) as never },
        )
        // A text of an example may be one that a pattern or a unique value of the model refuses; its names never are.
        const refused = (body as { errors?: { code: string }[] }).errors?.map(({ code }) => code) ?? []
        assert.ok(
          status === 200 || ([409, 422].includes(status) && !refused.includes('attribute_unknown') && !refused.includes('required')),
          `${resource.name}, ${does}: ${status} ${JSON.stringify(body)}`,
        )
        if (request.method === 'GET') assert.equal(status, 200, `${resource.name}, ${does}`)
      }
    }
    const sites = resources.find(({ name }) => name === 'sites')!
    assert.deepEqual([matches(sites, 'url sit'), matches(sites, 'url hostname')], [true, false])
    assert.equal(operatorsOf(sites.attributes.find(({ name }) => name === 'status')!), '=  !=')
  })
})
