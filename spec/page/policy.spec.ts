/** The engine in a page whose policy forbids texts as code: `script-src 'self' 'wasm-unsafe-eval'`. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import * as library from '../../lib/index.ts'
import { NO_BROWSER } from '../helpers/chromium.ts'
import { compileFunctions } from '../helpers/compile-functions.ts'
import { ENTITIES, askLibrary, askUnitOfWork } from './library.ts'
import { openPage, type OpenedPage } from './open-page.ts'
import type { PolicyInPage } from './policy-in-page.ts'

declare const inPage: PolicyInPage

const COMPILED = '/compiled-functions.js'

describe('an engine in a page with a strict policy', { skip: NO_BROWSER }, () => {
  let opened: OpenedPage
  before(
    async () => {
      opened = await openPage('spec/page/policy-in-page.ts', {
        policy: "script-src 'self' 'wasm-unsafe-eval'",
        scripts: { [COMPILED]: await compileFunctions(ENTITIES) },
      })
      await opened.page.evaluate(() => inPage.start())
    },
    { timeout: 120_000 },
  )
  after(() => opened?.close())

  it('reads, writes by statements, and speaks other grammars, in the bytes of Node', async () => {
    assert.equal(await opened.page.evaluate(() => inPage.generate()), 'EvalError')
    const wanted = await askLibrary(library)
    assert.ok(
      wanted.every(answer => !/ 50\d /.test(answer)),
      wanted.join('\n'),
    )
    assert.deepEqual(await opened.page.evaluate(() => inPage.ask()), wanted)
  })

  it('writes by the unit of work with the functions that MikroORM has compiled, in the bytes of Node', async () => {
    const wanted = await askUnitOfWork(library)
    assert.equal(wanted[0], 200)
    assert.deepEqual(await opened.page.evaluate(path => inPage.askCompiled(path), COMPILED), wanted)
  })

  it('refuses the unit of work without them by the name of the policy', async () => {
    const [status, report] = await opened.page.evaluate(() => inPage.askUnitOfWork())
    assert.equal(status, 500)
    assert.match(report, /MikroORM's unit of work generates functions.*'unsafe-eval'.*script-src/)
  })
})
