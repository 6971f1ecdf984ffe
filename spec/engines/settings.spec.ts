/**
 * What the variables of the environment may be that show the engines of a process, what a line of a stack says, and how lines of another
 * process are read.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { findPlace, readSettings } from '../../lib/doors/engines/shown-engine.ts'

describe('MIKRO_REST_WORKBENCH', () => {
  it('is a port', () => {
    assert.deepEqual(readSettings({ MIKRO_REST_WORKBENCH: '3999' }), { port: 3999, waiting: 'none' })
    for (const text of ['0', '65536', 'true', '39 99', '-1', '3999.5', '127.0.0.1:3999'])
      assert.throws(() => readSettings({ MIKRO_REST_WORKBENCH: text }), {
        name: 'RangeError',
        message: `MIKRO_REST_WORKBENCH must be a port from 1 to 65535, such as 3999, got "${text}".`,
      })
  })

  it('has engines wait at their end, or those of failed tests', () => {
    const waiting = (wait: string): string => readSettings({ MIKRO_REST_WORKBENCH: '1', MIKRO_REST_WORKBENCH_WAIT: wait }).waiting
    assert.deepEqual(['', '0', '1', 'failed'].map(waiting), ['none', 'none', 'all', 'failed'])
    assert.throws(() => waiting('toString'), {
      name: 'RangeError',
      message: /^MIKRO_REST_WORKBENCH_WAIT must be "1", .* got "toString"\.$/,
    })
  })
})

describe('the place where an engine is made', () => {
  const own = new URL('../../lib/engine.ts', import.meta.url)

  it('is the first file of the stack that is not of the package, below the working directory', () => {
    const stack = [
      'Error',
      `    at create (${own.href}:1:2)`,
      '    at async Suite.run (node:internal/x:1:2)',
      '    at setUp (file:///app/test/a%20b.js:12:3)',
      '    at /app/c.js:1:1',
    ]
    assert.equal(findPlace(stack.join('\n'), '/app'), 'test/a b.js:12')
    assert.equal(findPlace(stack.join('\n'), '/other'), '/app/test/a b.js:12')
    assert.equal(findPlace('Error\n    at async /app/c.ts:7:1', '/app'), 'c.ts:7')
    assert.equal(findPlace(stack.slice(0, 3).join('\n'), '/app'), '')
  })
})
