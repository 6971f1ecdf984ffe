/** One transaction a request: all or nothing, one writer at a time, no dirty reads, hooks that call the engine, aborts, and closing. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { defineEntity, p } from '@mikro-orm/sqlite'
import type { EventArgs } from '@mikro-orm/sqlite'
import { RestEngine } from '../../lib/index.ts'
import { describeTargets } from '../helpers/targets.ts'
import type { Target } from '../helpers/targets.ts'

interface Row {
  id: number
  name: string
}

/** What the hooks do, set by each test. */
let onWrite: (entity: Row, args: EventArgs<Row>) => Promise<void> | void = () => {}
const hook = [
  async (args: EventArgs<Row>): Promise<void> => {
    await onWrite(args.entity, args)
  },
]

const Account = defineEntity({
  name: 'Account',
  properties: {
    id: p.integer().primary(),
    name: p.string().unique(),
    balance: p.integer().default(0),
    changes: p
      .integer()
      .default(0)
      .onUpdate(account => (account as { changes: number }).changes + 1),
    version: p.integer().version(),
    entries: () => p.oneToMany(Entry).mappedBy('account'),
  },
  hooks: { beforeUpdate: hook, beforeCreate: hook, beforeDelete: hook },
})
const Entry = defineEntity({
  name: 'Entry',
  properties: { id: p.integer().primary(), text: p.string(), account: () => p.manyToOne(Account) },
})

const model = {
  entities: [Account, Entry],
  seed: {
    accounts: [
      { id: 1, name: 'a' },
      { id: 2, name: 'b' },
    ],
  },
}

interface Gate {
  readonly opened: Promise<void>
  open(): void
}

function makeGate(): Gate {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { opened: promise, open: resolve }
}

/** The hooks wait behind `gate`; `arrived` opens when the first of them does. */
function holdWrites(): { gate: Gate; arrived: Gate } {
  const [gate, arrived] = [makeGate(), makeGate()]
  onWrite = async () => {
    arrived.open()
    await gate.opened
  }
  return { gate, arrived }
}

async function account(target: Target, id: number): Promise<Record<string, unknown>> {
  return (await target.call('GET', `/v1/accounts/${id}`)).body.account as Record<string, unknown>
}

async function count(target: Target, resource: string): Promise<number> {
  return (await target.call('GET', `/v1/${resource}`, { limit: 0 })).body.count as number
}

/** On PostgreSQL writes do not wait in line, and what runs hooks is not repeated. */
const gaveUp = ({ store }: Target, status: number): boolean => store === 'postgres' && status === 503

/** The hook of a test ends with it: seeds of the next suites are written, too. */
function begin(): void {
  afterEach(() => {
    onWrite = () => {}
  })
}

describeTargets('a request', { ...model, everyTarget: 'a file is locked, and a client may leave' }, target => {
  begin()

  it('writes all or nothing', async () => {
    onWrite = entity => {
      if (entity.name === 'fails') throw new Error('no')
    }
    const answer = await target.call('POST', '/v1/accounts', undefined, { name: 'fails', entries: [{ text: 'x' }, { text: 'y' }] })
    assert.equal(answer.status, 500)
    assert.equal((await target.call('PUT', '/v1/accounts/1', undefined, { name: 'fails', entries: [{ text: 'x' }] })).status, 500)
    assert.equal(await count(target, 'accounts'), 2)
    assert.equal(await count(target, 'entries'), 0)
    assert.equal((await account(target, 1))['name'], 'a')
  })

  it('loses nothing of thirty changes at once, though each waits in the middle', async () => {
    onWrite = () => wait(1)
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) => target.call('PUT', '/v1/accounts/1', undefined, { balance: index + 1 })),
    )
    const done = answers.filter(({ status }) => status === 200)
    assert.ok(answers.every(({ status }) => status === 200 || gaveUp(target, status)))
    const { changes, version } = await account(target, 1)
    assert.equal(changes, done.length)
    assert.equal(version, done.length + 1)
    assert.equal(new Set(done.map(({ body }) => body.account.changes as number)).size, done.length)
  })

  it('loses nothing of twenty increments by clients that read, add and write with the version they read', async () => {
    const increment = async (): Promise<void> => {
      for (;;) {
        const { balance, version } = (await account(target, 2)) as { balance: number; version: number }
        const { status } = await target.call('PUT', '/v1/accounts/2', undefined, { balance: balance + 1, version })
        if (status === 200) return
        assert.ok(status === 409 || gaveUp(target, status))
      }
    }
    await Promise.all(Array.from({ length: 20 }, increment))
    assert.equal((await account(target, 2))['balance'], 20)
  })

  it('gives one of many that want the same unique value what it wants, and the others a conflict', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => target.call('POST', '/v1/accounts', undefined, { name: 'same' })))
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, ...Array.from({ length: 19 }, () => 409)],
    )
  })

  it('does not see what another one has not committed', async () => {
    const { gate, arrived } = holdWrites()
    const writing = target.call('POST', '/v1/accounts', undefined, { name: 'new', entries: [{ text: 'x' }] })
    await arrived.opened
    const reads = ['/v1/accounts', '/v1/accounts/1', '/v1/accounts/3', '/v1/entries', '/v1/accounts/1/entries'].map(path =>
      target.call('GET', path),
    )
    const early = await Promise.race([Promise.all(reads), wait(20)])
    // They may answer at once with the old state, or wait for the new one; never with something in between.
    gate.open()
    const answers = early ?? (await Promise.all(reads))
    const before = answers[2]!.status === 404
    assert.equal(answers[0]!.body.count, before ? 2 : 3)
    assert.equal(answers[3]!.body.count, before ? 0 : 1)
    assert.equal((await writing).status, 200)
    assert.equal(await count(target, 'accounts'), 3)
  })

  it('does not see what is rolled back', async () => {
    const { gate, arrived } = holdWrites()
    let written = false
    const hold = onWrite
    onWrite = async (entity, args) => {
      await args.em.getConnection().execute("update account set name = 'dirty' where id = 2", [], 'run', args.em.getTransactionContext())
      written = true
      await hold(entity, args)
      throw new Error('no')
    }
    const writing = target.call('PUT', '/v1/accounts/1', undefined, { name: 'x' })
    await arrived.opened
    assert.ok(written)
    const reading = target.call('GET', '/v1/accounts', { sort: 'id' })
    await wait(5)
    gate.open()
    assert.deepEqual(
      ((await reading).body.accounts as Row[]).map(({ name }) => name),
      ['a', 'b'],
    )
    assert.equal((await writing).status, 500)
    assert.equal((await account(target, 2))['name'], 'b')
  })

  it('of reading is answered while nobody writes, also when a write has failed before', async () => {
    onWrite = () => {
      throw new Error('no')
    }
    for (let round = 0; round < 3; round++) assert.equal((await target.call('DELETE', '/v1/accounts/1')).status, 500)
    assert.equal(await count(target, 'accounts'), 2)
    onWrite = () => {}
    assert.equal((await target.call('DELETE', '/v1/accounts/1')).status, 200)
  })
})

describeTargets('a hook that calls the engine', model, target => {
  begin()

  it('sees what its own write has changed, and writes with it', async () => {
    const seen: unknown[] = []
    onWrite = async entity => {
      if (entity.name !== 'outer') return
      const { engine } = target
      const made = await engine.handle('POST', '/v1/entries', undefined, { text: 'from the hook', account: 2 })
      const list = await engine.handle('GET', '/v1/entries')
      const changed = await engine.handle('PUT', '/v1/accounts/2', undefined, { balance: 7 })
      seen.push(made.status, list.body.count, changed.status)
    }
    const answer = await target.call('PUT', '/v1/accounts/1', undefined, { name: 'outer' })
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    assert.deepEqual(seen, [200, 1, 200])
    assert.equal((await account(target, 2))['balance'], 7)
    assert.equal(await count(target, 'entries'), 1)
  })

  it('is rolled back with its own write', async () => {
    onWrite = async entity => {
      if (entity.name !== 'outer') return
      assert.equal((await target.engine.handle('POST', '/v1/entries', undefined, { text: 'x', account: 2 })).status, 200)
      throw new Error('no')
    }
    assert.equal((await target.call('PUT', '/v1/accounts/1', undefined, { name: 'outer' })).status, 500)
    assert.equal(await count(target, 'entries'), 0)
    assert.equal((await account(target, 1))['name'], 'a')
  })

  it('may be refused, which concerns its own request only', async () => {
    const seen: number[] = []
    onWrite = async entity => {
      if (entity.name !== 'outer') return
      for (const body of [{ text: 5 }, { text: 'x', account: 99 }, { text: 'fine', account: 1 }]) {
        seen.push((await target.engine.handle('POST', '/v1/entries', undefined, body)).status)
      }
      seen.push((await target.engine.handle('POST', '/v1/accounts', undefined, { name: 'b' })).status)
      seen.push((await target.engine.handle('GET', '/v1/accounts/99')).status)
    }
    assert.equal((await target.call('PUT', '/v1/accounts/1', undefined, { name: 'outer' })).status, 200)
    assert.deepEqual(seen, [422, 422, 200, 409, 404])
    assert.equal(await count(target, 'entries'), 1)
  })

  it('may make several requests at once', async () => {
    onWrite = async entity => {
      if (entity.name !== 'outer') return
      const { engine } = target
      const answers = await Promise.all([
        ...Array.from({ length: 5 }, (_, index) => engine.handle('POST', '/v1/entries', undefined, { text: `t${index}`, account: 2 })),
        engine.handle('GET', '/v1/accounts', { depth: 2 }),
        engine.handle('POST', '/v1/entries', undefined, { text: 5, account: 2 }),
        engine.handle('GET', '/v1/entries'),
        engine.handle('PUT', '/v1/accounts/2', undefined, { balance: 3 }),
      ])
      assert.deepEqual(
        answers.map(({ status }) => status),
        [200, 200, 200, 200, 200, 200, 422, 200, 200],
      )
    }
    const answer = await target.call('PUT', '/v1/accounts/1', undefined, { name: 'outer' })
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    assert.equal(await count(target, 'entries'), 5)
    assert.equal((await account(target, 2))['balance'], 3)
  })

  it('may do so at several levels', async () => {
    onWrite = async entity => {
      const level = /^level (\d)$/.exec(entity.name)?.[1]
      if (level === undefined || level === '4') return
      await wait(1)
      const next = `level ${Number(level) + 1}`
      assert.equal((await target.engine.handle('POST', '/v1/accounts', undefined, { name: next })).status, 200)
    }
    assert.equal((await target.call('PUT', '/v1/accounts/1', undefined, { name: 'level 1' })).status, 200)
    assert.equal(await count(target, 'accounts'), 5)
  })

  it('keeps other requests out meanwhile', async () => {
    const { engine } = target
    const arrived = makeGate()
    onWrite = async entity => {
      if (entity.name !== 'outer') return
      arrived.open()
      await wait(10)
      await engine.handle('PUT', '/v1/accounts/2', undefined, { balance: 1 })
      await wait(10)
      throw new Error('no')
    }
    const outer = target.call('PUT', '/v1/accounts/1', undefined, { name: 'outer' })
    await arrived.opened
    const others = await Promise.all([
      target.call('PUT', '/v1/accounts/2', undefined, { name: 'other' }),
      target.call('GET', '/v1/accounts/2'),
      target.call('POST', '/v1/entries', undefined, { text: 'x', account: 1 }),
    ])
    assert.deepEqual(
      others.map(({ status }) => status),
      [200, 200, 200],
    )
    assert.equal((await outer).status, 500)
    const { balance, name } = await account(target, 2)
    assert.deepEqual([balance, name], [0, 'other'])
    assert.equal(await count(target, 'entries'), 1)
  })

  it('may leave a request behind, which then has its own transaction or none', async () => {
    let left: Promise<{ status: number }> | undefined
    onWrite = entity => {
      if (entity.name === 'outer')
        left = wait(15).then(() => target.engine.handle('POST', '/v1/entries', undefined, { text: 'late', account: 1 }))
    }
    assert.equal((await target.call('PUT', '/v1/accounts/1', undefined, { name: 'outer' })).status, 200)
    assert.equal((await left!).status, 200)
    assert.equal(await count(target, 'entries'), 1)
  })
})

describeTargets('the entity manager', model, target => {
  begin()

  it('flushes and runs transactions beside requests', target.except('queue'), async () => {
    const { orm } = target.engine
    onWrite = () => wait(1)
    const work: Promise<unknown>[] = []
    for (let round = 0; round < 10; round++) {
      work.push(
        target.call('PUT', '/v1/accounts/1', undefined, { balance: round + 1 }),
        orm.em.fork().transactional(async em => {
          const one = await em.findOneOrFail(Account, 2)
          await wait(1)
          one.balance += 1
        }),
        (async () => {
          const em = orm.em.fork()
          em.create(Entry, { text: `e${round}`, account: em.getReference(Account, 1) })
          await em.flush()
        })(),
        target.call('GET', '/v1/accounts', { depth: 2 }),
        orm.em.fork().find(Entry, {}),
      )
    }
    await Promise.all(work)
    assert.equal((await account(target, 1))['changes'], 10)
    assert.equal((await account(target, 2))['balance'], 10)
    assert.equal(await count(target, 'entries'), 10)
  })

  it('keeps requests from seeing its transaction before it is committed', async () => {
    const gate = makeGate()
    const arrived = makeGate()
    const working = target.engine.orm.em.fork().transactional(async em => {
      em.create(Account, { name: 'dirty' })
      await em.flush()
      arrived.open()
      await gate.opened
      throw new Error('undone')
    })
    const undone = assert.rejects(working, /undone/)
    await arrived.opened
    const reading = target.call('GET', '/v1/accounts', { limit: 0 })
    await wait(5)
    gate.open()
    await undone
    assert.equal((await reading).body.count, 2)
  })

  it('does not stop later requests when its transaction fails', async () => {
    const { orm } = target.engine
    const fails = async (): Promise<void> => {
      await orm.em.fork().transactional(async em => {
        em.create(Account, { name: 'a' })
        await em.flush()
      })
    }
    await assert.rejects(fails)
    const em = orm.em.fork()
    await em.begin()
    await em.getConnection().execute("insert into account (name) values ('x')", [], 'run', em.getTransactionContext())
    await em.rollback()
    assert.equal((await target.call('PUT', '/v1/accounts/1', undefined, { balance: 1 })).status, 200)
    assert.equal(await count(target, 'accounts'), 2)
  })
})

for (const store of ['memory', 'file'] as const) {
  describe(`a signal [${store}]`, () => {
    /** Runs a test on an engine of its own. */
    const withEngine = (test: (engine: RestEngine) => Promise<void>) => async (): Promise<void> => {
      const folder = store === 'file' ? await mkdtemp(join(tmpdir(), 'mikro-rest-')) : undefined
      const database = folder === undefined ? ':memory:' : join(folder, 'data.sqlite')
      const engine = await RestEngine.create({ entities: model.entities, seed: model.seed, database })
      try {
        await test(engine)
      } finally {
        await engine.close()
        if (folder !== undefined) await rm(folder, { recursive: true, force: true })
      }
    }
    const nameOf = async (engine: RestEngine, id: number): Promise<unknown> =>
      (await engine.handle('GET', `/v1/accounts/${id}`)).body.account.name
    const reason = new Error('changed my mind')

    it(
      'that is aborted before the request rejects it with its reason',
      withEngine(async engine => {
        const signal = AbortSignal.abort(reason)
        for (const method of ['GET', 'PUT', 'DELETE']) {
          await assert.rejects(
            engine.handle(method, '/v1/accounts/1', undefined, method === 'PUT' ? { name: 'x' } : undefined, { signal }),
            reason,
          )
        }
        assert.equal(await nameOf(engine, 1), 'a')
      }),
    )

    it(
      'that aborts while the request waits for its turn rejects at once, and nothing is written',
      withEngine(async engine => {
        const { gate, arrived } = holdWrites()
        const first = engine.handle('PUT', '/v1/accounts/1', undefined, { name: 'first' })
        await arrived.opened
        const abort = new AbortController()
        const waiting = [
          engine.handle('PUT', '/v1/accounts/2', undefined, { name: 'second' }, { signal: abort.signal }),
          engine.handle('GET', '/v1/accounts/2', undefined, undefined, { signal: abort.signal }),
        ]
        abort.abort(reason)
        for (const one of waiting) await assert.rejects(one, reason)
        const third = engine.handle('PUT', '/v1/accounts/2', undefined, { balance: 3 })
        gate.open()
        assert.equal((await first).status, 200)
        assert.equal((await third).status, 200)
        assert.equal(await nameOf(engine, 2), 'b')
      }),
    )

    it(
      'that aborts while the request runs rejects it, and nothing is committed',
      withEngine(async engine => {
        const { gate, arrived } = holdWrites()
        const abort = new AbortController()
        const running = engine.handle('PUT', '/v1/accounts/1', undefined, { name: 'x', entries: [{ text: 'y' }] }, { signal: abort.signal })
        await arrived.opened
        abort.abort(reason)
        await assert.rejects(running, reason)
        gate.open()
        onWrite = () => {}
        assert.equal((await engine.handle('PUT', '/v1/accounts/2', undefined, { name: 'z' })).status, 200)
        assert.equal(await nameOf(engine, 1), 'a')
        assert.equal((await engine.handle('GET', '/v1/entries')).body.count, 0)
      }),
    )

    it(
      'that aborts after the answer changes nothing',
      withEngine(async engine => {
        const abort = new AbortController()
        assert.equal((await engine.handle('PUT', '/v1/accounts/1', undefined, { name: 'x' }, { signal: abort.signal })).status, 200)
        abort.abort(reason)
        assert.equal(await nameOf(engine, 1), 'x')
      }),
    )

    it(
      'a transaction that cannot begin does not stop later requests',
      withEngine(async engine => {
        const em = engine.orm.em.fork()
        // A native transaction that MikroORM knows nothing of: its own `begin` fails.
        await em.getConnection().execute('savepoint outside', [], 'run')
        const answer = await engine.handle('PUT', '/v1/accounts/1', undefined, { name: 'x' })
        assert.equal(answer.status, 500)
        await em.getConnection().execute('release outside', [], 'run')
        assert.equal((await engine.handle('PUT', '/v1/accounts/1', undefined, { name: 'y' })).status, 200)
        await engine.orm.em.fork().transactional(async inner => void (await inner.find(Account, {})))
        assert.equal(await nameOf(engine, 1), 'y')
      }),
    )

    it(
      'the engine takes part in a transaction that the caller has opened with MikroORM',
      withEngine(async engine => {
        const outcome = await engine.orm.em
          .fork()
          .transactional(async em => {
            ;(await em.findOneOrFail(Account, 1)).name = 'changed'
            await em.flush()
            assert.equal(await nameOf(engine, 1), 'changed')
            assert.equal((await engine.handle('PUT', '/v1/accounts/2', undefined, { name: 'too' })).status, 200)
            throw reason
          })
          .catch((error: unknown) => error)
        assert.equal(outcome, reason)
        assert.deepEqual([await nameOf(engine, 1), await nameOf(engine, 2)], ['a', 'b'])
      }),
    )

    it(
      'closing lets the write that runs finish, and refuses what comes after',
      withEngine(async engine => {
        const { gate, arrived } = holdWrites()
        const running = engine.handle('PUT', '/v1/accounts/1', undefined, { name: 'x' })
        const waiting = engine.handle('PUT', '/v1/accounts/2', undefined, { name: 'y' })
        await arrived.opened
        const closing = engine.close()
        await assert.rejects(engine.handle('GET', '/v1/accounts'), /closed/)
        gate.open()
        assert.deepEqual(
          (await Promise.all([running, waiting])).map(({ status }) => status),
          [200, 200],
        )
        await closing
        await engine.close()
      }),
    )
  })
}
