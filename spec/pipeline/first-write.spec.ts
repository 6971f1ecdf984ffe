/** The first write loads the code of writes. */
import assert from 'node:assert/strict'
import { registerHooks } from 'node:module'
import { describe, it } from 'node:test'
import type { WriterLoader } from '../../lib/records/write/load-writer.ts'
import type { Writer } from '../../lib/records/write/writer.ts'

type Loader = new (make: () => Writer) => WriterLoader

/** A copy of the module has loaded nothing. */
async function loadFresh(name: string): Promise<Loader> {
  const path = `../../lib/records/write/load-writer.ts?${name}`
  return ((await import(path)) as { WriterLoader: Loader }).WriterLoader
}

describe('the first write', () => {
  it('loads once for requests at the same time, and later engines wait for nothing', async () => {
    const Fresh = await loadFresh('once')
    const made: object[] = []
    const make = (): Writer => {
      made.push({})
      return made.at(-1) as Writer
    }
    const loader = new Fresh(make)
    assert.equal(loader.writer, undefined)
    const both = [loader.load(), loader.load()]
    assert.deepEqual(
      both.map(each => each instanceof Promise),
      [true, true],
    )
    for (const each of both) await each
    assert.equal(made.length, 1)
    assert.equal(loader.writer, made[0])
    const later = new Fresh(make)
    assert.equal(later.load(), undefined)
    assert.equal(later.writer, made[1])
  })

  it('loads again after a failure', async () => {
    const Fresh = await loadFresh('again')
    let failures = 1
    const hooks = registerHooks({
      resolve(specifier, context, next) {
        if (specifier.endsWith('/preparing-writer.ts') && failures-- > 0) throw new Error('the network is down')
        return next(specifier, context)
      },
    })
    try {
      const loader = new Fresh(() => ({}) as Writer)
      await assert.rejects(async () => loader.load(), /the network is down/)
      assert.equal(loader.writer, undefined)
      await loader.load()
      assert.deepEqual(loader.writer, {})
    } finally {
      hooks.deregister()
    }
  })
})
