/**
 * The workbench's console in headless Chromium: a request with completion, its answer, whether that is as described, what it runs; and the
 * control that judges answers.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { RestEngine } from '../../lib/index.ts'
import sample from '../../fixtures/sample/index.ts'
import type { Outline, OutlinedResource } from '../../lib/description/outline/outline-parts.ts'
import { exampleBody, missingNames, resourceOfPath, withName } from '../../lib/workbench/console/body-names.ts'
import { findExamples } from '../../lib/workbench/console/example-requests.ts'
import {
  copyOfWritten,
  findBodyFault,
  hrefOfRequest,
  isInGrammarOfWire,
  pathAndQuery,
  readHeaders,
  readRequest,
} from '../../lib/workbench/console/sent-request.ts'
import { parsePlace } from '../../lib/workbench/state/place-text.ts'
import { NO_BROWSER, borrowBrowser } from '../helpers/chromium.ts'
import type { BorrowedBrowser } from '../helpers/chromium.ts'
import { PHONE, serveWorkbench, visit } from './browser.ts'

describe('the console of the workbench', { skip: NO_BROWSER, timeout: 240_000 }, () => {
  let browser: BorrowedBrowser
  let engine: RestEngine
  before(async () => {
    browser = await borrowBrowser()
    engine = await RestEngine.create(sample)
  })
  after(() => Promise.all([browser?.close(), engine?.close()]))

  it('completes a request, sends it, and shows the answer with its conformity and what ran', async () => {
    await using server = await serveWorkbench(engine)
    await visit(browser, `${server.origin}/_ui#/console`, {}, async page => {
      const target = page.getByRole('combobox', { name: 'Path and query' })
      await target.fill('/v1/sit')
      await page.getByRole('option', { name: '/v1/sites' }).waitFor()
      await target.press('ArrowDown')
      await target.press('Enter')
      assert.equal(await target.inputValue(), '/v1/sites')
      await target.pressSequentially('?status=blocked')
      await target.press('Enter')
      await page.getByRole('heading', { name: '200 in' }).waitFor()
      await page.getByText('As the OpenAPI document says').waitFor()
      assert.equal(new URL(page.url()).hash, '#/console/GET?/v1/sites?status=blocked')
      await page.getByText('"blocked"').first().waitFor()
      await page.getByRole('tab', { name: 'Explain' }).click()
      await page
        .getByText(/^select /)
        .first()
        .waitFor()
      await page.getByRole('tab', { name: 'Headers' }).click()
      await page.getByText('application/json; charset=UTF-8').waitFor()
      await page.getByRole('button', { name: 'engine.handle' }).click()
      await page.getByText(`await engine.handle('GET', '/v1/sites?status=blocked')`).waitFor()
    })
  })

  it('begins with requests of this model, which run', async () => {
    await using server = await serveWorkbench(engine)
    const { resources, root } = (await (await fetch(`${server.origin}/_ui/outline.json`)).json()) as Outline
    const names = { limit: 'limit', offset: 'offset', sort: 'sort', depth: 'depth', attributes: 'attributes', expand: 'expand' }
    const examples = findExamples(resources, root, names)
    assert.equal(examples.length, 7)
    await using fork = await engine.fork()
    for (const { method, target, body } of examples) {
      const answer = await fork.send(`${method} ${target}`, body === '' ? {} : { body: JSON.parse(body) as object })
      // What is made up for a unique attribute may be taken.
      assert.ok(answer.status < 300 || (method === 'POST' && answer.status === 409), `${method} ${target}: ${answer.status}`)
    }
    await visit(browser, `${server.origin}/_ui#/console`, { viewport: PHONE, colorScheme: 'dark' }, async page => {
      const list = page.getByRole('region', { name: 'Examples' })
      await list.getByRole('button', { name: 'linked records in full' }).click()
      assert.match(await page.getByRole('combobox', { name: 'Path and query' }).inputValue(), /^\/v1\/\w+\?expand=\w+&limit=5$/)
      await page.getByRole('button', { name: 'Send', exact: true }).click()
      await page.getByRole('heading', { name: '200 in' }).waitFor()
    })
  })

  it('writes a body from the names of the model, and keeps what was sent', async () => {
    await using server = await serveWorkbench(engine)
    await visit(
      browser,
      `${server.origin}/_ui#/console/POST?/v1/publishers`,
      { allowed: /status of 4(22|00)/, viewport: PHONE, colorScheme: 'dark' },
      async page => {
        await page.getByRole('button', { name: 'Send' }).click()
        await page.getByRole('heading', { name: /^4\d\d in/ }).waitFor()
        await page.getByRole('button', { name: 'All that is required' }).click()
        const body = page.getByRole('textbox', { name: 'Body' })
        await body.fill('{')
        await page.getByText('This is not JSON').waitFor()
        await body.fill('{ "name": "A", "email": "a@example.com" }')
        await page.getByRole('button', { name: '+ balance' }).click()
        assert.match(await body.inputValue(), /"balance"/)
        await page.getByRole('button', { name: 'Send' }).click()
        await page.getByRole('heading', { name: '200 in' }).waitFor()
        await page.getByText('As the OpenAPI document says').waitFor()
        const href = page.url()
        await page.reload()
        assert.equal(page.url(), href)
        assert.match(await body.inputValue(), /a@example\.com/)
        await page.getByRole('region', { name: 'Sent before' }).getByRole('button').nth(1).click()
        assert.equal(await body.inputValue(), '')
      },
    )
    assert.equal((await engine.send('GET /v1/publishers?email=a@example.com')).body['count' as never], 1)
  })
})

describe('POST /_test/conformity', () => {
  it('says what of an answer is not as the document says, below a base, too', async () => {
    for (const base of ['', '/api']) {
      await using engine = await RestEngine.create({ ...sample, base })
      await using server = await serveWorkbench(engine)
      const judge = async (answer: object) => {
        const response = await fetch(`${server.origin}${base}/_test/conformity`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(answer),
        })
        return { ...((await response.json()) as { described?: boolean; faults?: string[] }), status: response.status }
      }
      const { status, headers, body } = await engine.send(`GET ${base}/v1/users/1`)
      const asked = { method: 'GET', path: `${base}/v1/users/1?depth=1`, status, headers }
      const right = await judge({ ...asked, body })
      assert.deepEqual([right.status, right.described, right.faults], [200, true, []])
      const cut = await engine.send(`GET ${base}/v1/users?attributes=name&limit=1`)
      const part = { method: 'GET', path: `${base}/v1/users?attributes=name&limit=1`, status: 200, headers: cut.headers, body: cut.body }
      assert.deepEqual((await judge(part)).faults, [])
      assert.notDeepEqual((await judge({ ...part, path: `${base}/v1/users` })).faults, [])
      const wrong = await judge({ ...asked, body: { ...body, user: { ...(body as unknown as { user: object }).user, name: 5 } } })
      assert.match(wrong.faults!.join(), /name/)
      assert.equal((await judge({ ...asked, path: '/elsewhere', body })).described, false)
      for (const bad of [{}, { ...asked, status: '200' }, { ...asked, headers: { a: 1 } }, { ...asked, more: 1 }, { ...asked, path: 5 }])
        assert.equal((await judge(bad)).status, 400)
    }
  })
})

describe('requests of the console', () => {
  it('are places, and come back from them', () => {
    for (const request of [
      { method: 'GET', target: '/v1/sites?name~=*a b*&sort=name', headers: '', body: '' },
      { method: 'POST', target: '/v1/sites', headers: 'Accept: text/csv', body: '{ "a/b": "c?d#e" }' },
      { method: 'PUT', target: '/v1/sites/1/name', headers: '', body: '"x"' },
    ])
      assert.deepEqual(readRequest(parsePlace(hrefOfRequest(request)), '/v1'), {
        ...request,
        target: request.target.replaceAll(' ', '%20'),
      })
    assert.deepEqual(readRequest(parsePlace('#/console'), '/v1'), { method: 'GET', target: '/v1/', headers: '', body: '' })
  })

  it('have headers and bodies that are read as they are written', () => {
    assert.deepEqual(readHeaders('Accept: text/csv\n\nIf-Match: "3:4"'), { accept: 'text/csv', 'if-match': '"3:4"' })
    assert.throws(() => readHeaders('nothing'), /a name, a colon and a value/)
    assert.match(findBodyFault('{')!, /not JSON/)
    assert.equal(findBodyFault(' '), undefined)
    const outline = { root: '/api/v1', hasWire: true } as const
    const targets = ['/api/v1', '/api/v1/users?name=A', '/api/v1?depth=1', '/api/v10/users', '/api/users', '/users']
    assert.deepEqual(
      targets.filter(target => isInGrammarOfWire(target, outline)),
      ['/api/v10/users', '/api/users', '/users'],
    )
    assert.deepEqual(
      [{ root: '/api/v1' }, { root: '', hasWire: true } as const, undefined].map(each => isInGrammarOfWire('/users', each)),
      [false, false, false],
    )
    const written = { method: 'POST', target: '/v1/sites?depth=0', headers: '', body: '{"a":1}' }
    assert.deepEqual(copyOfWritten(written, '7'), { method: 'POST', path: '/v1/sites?depth=0', query: [], body: { a: 1 }, user: '7' })
    assert.equal('body' in copyOfWritten({ ...written, method: 'GET' }, ''), false)
    assert.deepEqual(pathAndQuery('/v1/sites?name~=*a%20b*&a>=3&a<5&!c=1&d'), {
      path: '/v1/sites',
      query: [
        ['name~', '*a b*'],
        ['a>=', '3'],
        ['a<', '5'],
        ['!c', '1'],
        ['d', ''],
      ],
    })
    assert.deepEqual(pathAndQuery('/v1/sites'), { path: '/v1/sites', query: [] })
  })

  it('are offered the attributes that a body lacks', () => {
    const plain = { kind: 'scalar', nullable: false, readOnly: false, unique: false, filterable: true, sortable: true } as const
    const users: OutlinedResource = {
      name: 'users',
      singular: 'user',
      key: ['id'],
      creates: true,
      updates: true,
      deletes: true,
      attributes: [
        { ...plain, name: 'id', type: 'integer', required: false, readOnly: true },
        { ...plain, name: 'nick', type: 'text', required: false },
        { ...plain, name: 'role', type: 'enum', items: ['admin', 'reader'], required: true },
        { ...plain, kind: 'toMany', name: 'friends', type: 'users', target: 'users', required: false },
      ],
    }
    assert.deepEqual(
      missingNames('', users).map(({ name }) => name),
      ['role', 'nick'],
    )
    assert.deepEqual(
      missingNames('{ "role": ', users).map(({ name }) => name),
      ['nick'],
    )
    assert.equal(withName('{ "role": "reader" }', 'nick', users), JSON.stringify({ role: 'reader', nick: '' }, null, 2))
    assert.equal(exampleBody(users), JSON.stringify({ role: 'admin' }, null, 2))
    assert.equal(resourceOfPath('/v1/users/1/friends?x', '/v1', [users]), users)
    assert.equal(resourceOfPath('/v2/users', '/v1', [users]), undefined)
  })
})
