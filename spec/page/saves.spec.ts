/** Saves of a kept world: one at a time, with pauses, the newest state last, and again behind a failure. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { Saves } from '../../lib/engine/persistence/saves.ts'

/** Stores numbers, each in some milliseconds. */
function makeStore({ takes = 10, fails = 0 } = {}) {
  const store = { state: 0, stored: [] as number[], times: [] as number[], running: 0, most: 0, reports: [] as unknown[], fails }
  const saves = new Saves({
    take: async () => Uint8Array.of(store.state),
    store: async ([state = 0]) => {
      store.most = Math.max(store.most, ++store.running)
      store.times.push(performance.now())
      await pause(takes)
      store.running--
      if (store.fails-- > 0) throw new Error('full')
      store.stored.push(state)
    },
    report: error => void store.reports.push(error),
  })
  const change = (): void => {
    store.state++
    saves.changed()
  }
  return { store, saves, change }
}

describe('saves', () => {
  it('store the newest state of many changes in few writes, never two at once', async () => {
    const { store, saves, change } = makeStore({ takes: 20 })
    for (let index = 0; index < 50; index++) {
      change()
      await pause(5)
    }
    await saves.end()
    assert.equal(store.stored.at(-1), 50)
    assert.equal(store.most, 1)
    assert.ok(store.stored.length >= 2 && store.stored.length <= 8, `${store.stored.length} saves`)
  })

  it('have a pause of four times the time of the save before', async () => {
    const { store, saves, change } = makeStore({ takes: 40 })
    change()
    await pause(20)
    change()
    await pause(300)
    const [first = 0, second = 0] = store.times
    assert.ok(second - first >= 195, `${second - first} ms`)
    await saves.end()
    assert.deepEqual(store.stored, [1, 2])
  })

  it('report the first failure, and try again after five seconds', async () => {
    const { store, change } = makeStore({ fails: 1 })
    change()
    await pause(100)
    assert.deepEqual([store.stored, store.reports.map(String)], [[], ['Error: full']])
    await pause(5200)
    assert.deepEqual(store.stored, [1])
  })

  it('store nothing twice at the end, and reject when the end fails', async () => {
    const { store, saves, change } = makeStore()
    change()
    await pause(100)
    await saves.end()
    assert.deepEqual(store.stored, [1])
    const full = makeStore({ fails: 2 })
    full.change()
    await pause(100)
    await assert.rejects(full.saves.end(), /full/)
  })
})
