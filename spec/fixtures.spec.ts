/**
 * The sample model and its data: that it is the same everywhere, hangs together, and fits the tables that MikroORM makes of the model.
 * No engine takes part.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import { MikroORM, ReferenceKind, type EntityMetadata, type EntityName, type EntityProperty } from '@mikro-orm/sqlite'
import sample, {
  Advertiser,
  Campaign,
  Category,
  Creative,
  DailyStatistic,
  Domain,
  Publisher,
  Site,
  User,
  countSample,
  entities,
  loadSample,
  progressBar,
  sampleData,
  sampleStreams,
  type SampleResource,
} from '../fixtures/sample/index.ts'
import { mix, Random, shares } from '../fixtures/sample/random.ts'

type Row = Record<string, unknown>

const ENTITY_OF: Record<SampleResource, EntityName> = {
  users: User,
  categories: Category,
  publishers: Publisher,
  sites: Site,
  domains: Domain,
  advertisers: Advertiser,
  campaigns: Campaign,
  creatives: Creative,
  daily_statistics: DailyStatistic,
}
const RESOURCES = Object.keys(ENTITY_OF) as SampleResource[]

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex')
}

function metaOf(orm: MikroORM, resource: SampleResource): EntityMetadata {
  return orm.getMetadata().get(ENTITY_OF[resource])
}

/** The attributes that a POST may carry, in the order of the model. */
function attributesOf(meta: EntityMetadata): EntityProperty[] {
  return meta.props.filter(
    property =>
      property.embedded === undefined &&
      property.kind !== ReferenceKind.ONE_TO_MANY &&
      !(property.kind === ReferenceKind.MANY_TO_MANY && !property.owner),
  )
}

async function withTables<T>(work: (orm: MikroORM) => Promise<T>): Promise<T> {
  const orm = new MikroORM({ entities, dbName: ':memory:' })
  try {
    await orm.schema.create()
    return await work(orm)
  } finally {
    await orm.close()
  }
}

const run = (orm: MikroORM, sql: string): Promise<Row[]> => orm.em.getConnection().execute<Row[]>(sql)

/** Every table with its rows as they are stored, and the storage class of every value. */
async function dump(orm: MikroORM): Promise<Record<string, Row[]>> {
  const tables: Record<string, Row[]> = {}
  for (const meta of orm.getMetadata()) {
    if (meta.embeddable) continue
    const columns = await run(orm, `select name from pragma_table_info('${meta.tableName}')`)
    const list = columns.map(({ name }) => `"${String(name)}", typeof("${String(name)}") as "${String(name)}:type"`).join(', ')
    tables[meta.tableName] = await run(orm, `select ${list} from "${meta.tableName}" order by 1, 3`)
  }
  return tables
}

describe('the sample data', () => {
  it('is the same for the same size and seed, on every machine', () => {
    assert.deepEqual(sampleData(), sampleData({ size: 12, seed: 1, until: '2026-11-01', password: 'sample' }))
    // A change of these is a change of what the documentation shows.
    assert.equal(digest(sampleData()), '392032b54a34c8c5ebc98c4294acf8d76a849fca6ad53bbb8c033e16959441d1')
    assert.equal(
      digest(sampleData({ size: 50, seed: 7, until: '2030-02-28' })),
      '9133d208351312ff696b588089b2267456f57729dd00b0abfb3f11470d32ff8a',
    )
  })

  it('is other data of the same counts for another seed', () => {
    const [one, two] = [sampleData({ seed: 1 }), sampleData({ seed: 2 })]
    for (const resource of RESOURCES) {
      assert.equal(one[resource].length, two[resource].length)
      // The taxonomy is the same everywhere.
      if (resource !== 'categories') assert.notDeepEqual(one[resource], two[resource])
    }
  })

  it('grows in proportion to the size, and countSample tells how', () => {
    for (const size of [1, 2, 5, 12, 13, 100]) {
      const data = sampleData({ size })
      const counts = countSample(size)
      assert.deepEqual(Object.keys(data), RESOURCES)
      assert.deepEqual(Object.keys(counts), RESOURCES)
      for (const resource of RESOURCES) {
        assert.equal(data[resource].length, counts[resource], `${resource} at size ${size}`)
        if (resource !== 'categories') assert.equal(counts[resource], size * countSample(1)[resource])
      }
      assert.equal(counts.publishers, size)
    }
  })

  it('comes record by record too, as often as one likes', () => {
    const streams = sampleStreams({ size: 5, seed: 3 })
    const whole = sampleData({ size: 5, seed: 3 })
    for (let walk = 0; walk < 2; walk++) for (const resource of RESOURCES) assert.deepEqual([...streams[resource]], whole[resource])
  })

  it('is plain JSON in the shape of the model', async () => {
    const data = sampleData()
    assert.deepEqual(JSON.parse(JSON.stringify(data)), data)
    const formats: Record<string, RegExp> = {
      Date: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
      DateType: /^\d{4}-\d\d-\d\d$/,
      time: /^\d\d:\d\d:\d\d$/,
      DecimalType: /^-?(0|[1-9]\d*)\.\d\d$/,
      UuidType: /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      BlobType: /^[A-Za-z0-9+/]+=*$/,
    }
    await withTables(async orm => {
      const seen = new Set<string>()
      for (const resource of RESOURCES) {
        const meta = metaOf(orm, resource)
        for (const record of data[resource] as unknown as Row[]) {
          assert.deepEqual(
            Object.keys(record),
            attributesOf(meta).map(property => property.name),
          )
          for (const property of attributesOf(meta)) {
            const value = record[property.name]
            const where = `${resource}.${property.name} = ${JSON.stringify(value)}`
            if (value === null) assert.equal(property.nullable, true, where)
            else if (property.kind === ReferenceKind.SCALAR) {
              const kind = property.runtimeType === 'Date' ? 'Date' : property.type
              if (formats[kind] !== undefined) assert.match(value as string, formats[kind], where)
              else if (property.runtimeType !== 'any') assert.equal(typeof value, property.runtimeType, where)
              seen.add(kind)
              if (property.items !== undefined) assert.ok(property.items.includes(value as string), where)
              if (typeof value === 'string' && property.type === 'string' && property.length !== undefined) {
                assert.ok(value.length > 0 && value.length <= property.length, where)
                assert.equal(value, value.normalize('NFC'), where)
              }
            }
          }
        }
      }
      for (const kind of Object.keys(formats)) assert.ok(seen.has(kind), `no value of type ${kind} was checked`)
    })
  })

  it('points only to records that exist and come before, and repeats nothing unique', async () => {
    await withTables(async orm => {
      for (const options of [{}, { size: 1 }, { size: 40, seed: 9 }]) {
        const data = sampleData(options)
        const ids = new Map(RESOURCES.map(resource => [metaOf(orm, resource).className, new Set<unknown>()]))
        for (const resource of RESOURCES) {
          const meta = metaOf(orm, resource)
          const own = ids.get(meta.className)!
          const uniques = [
            ...meta.props.filter(property => property.unique).map(property => [property.name]),
            ...meta.uniques.map(unique => [unique.properties!].flat()),
          ]
          const taken = uniques.map(() => new Set<string>())
          for (const record of data[resource] as unknown as Row[]) {
            for (const property of meta.relations) {
              const value = record[property.name]
              if (value === null || value === undefined) continue
              const targets = ids.get(property.targetMeta!.className)!
              for (const id of [value].flat()) assert.ok(targets.has(id), `${resource}.${property.name} = ${JSON.stringify(id)}`)
              if (Array.isArray(value)) assert.equal(new Set(value).size, value.length)
            }
            for (const [index, names] of uniques.entries()) taken[index]!.add(JSON.stringify(names.map(name => record[name])))
            own.add(record['id'])
          }
          assert.equal(own.size, data[resource].length, `an ID of ${resource} comes twice`)
          for (const [index, names] of uniques.entries())
            assert.equal(taken[index]!.size, data[resource].length, `${resource} ${names.join('+')}`)
        }
      }
    })
  })

  it('tells a story that holds together', () => {
    const until = '2026-11-01'
    const { users, publishers, sites, domains, advertisers, campaigns, daily_statistics } = sampleData({ size: 30, seed: 4 })
    for (const { created_at, updated_at } of [...users, ...publishers, ...sites, ...advertisers, ...campaigns]) {
      assert.ok(created_at < until)
      assert.ok(updated_at === null || (updated_at >= created_at && updated_at < until))
    }
    for (const site of sites) assert.ok(site.created_at > publishers[site.publisher - 1]!.created_at)
    for (const { verified_on, site } of domains) {
      assert.ok(verified_on === null || (verified_on > sites[site - 1]!.created_at && verified_on <= until))
    }
    for (const campaign of campaigns) {
      assert.ok(campaign.created_at > advertisers[campaign.advertiser - 1]!.created_at)
      assert.ok(campaign.created_at < campaign.starts_on)
      assert.ok(campaign.ends_on === null || campaign.ends_on >= campaign.starts_on)
      if (campaign.status === 'ended') assert.ok(campaign.ends_on !== null && campaign.ends_on < until)
      if (campaign.status === 'draft') assert.ok(campaign.starts_on > until)
      assert.equal(campaign.daily_from === null, campaign.daily_until === null)
      assert.ok(campaign.daily_from === null || campaign.daily_from < campaign.daily_until!)
    }
    for (const { day, campaign, site, clicks, impressions } of daily_statistics) {
      const { starts_on, ends_on, status } = campaigns[campaign - 1]!
      assert.ok(day >= starts_on && day < until && (ends_on === null || day <= ends_on))
      assert.ok(day > sites[site - 1]!.created_at)
      assert.notEqual(status, 'draft')
      assert.ok(clicks <= impressions)
    }
  })

  it('gives sorting and filtering something to do', async () => {
    const data = sampleData()
    const sitesOf = data.publishers
      .map(({ id }) => data.sites.filter(site => site.publisher === id).length)
      .sort((left, right) => right - left)
    assert.ok(sitesOf[0]! > sitesOf[1]! && sitesOf[1]! > sitesOf[2]! && sitesOf[2]! > sitesOf[3]!, `clear winners: ${sitesOf.join()}`)
    assert.equal(sitesOf.at(-1), 0)
    assert.ok(data.sites.some(({ id }) => data.domains.every(domain => domain.site !== id)))
    assert.ok(data.campaigns.some(({ categories }) => categories.length === 0))
    assert.ok(data.campaigns.some(({ categories }) => categories.length > 1))
    assert.ok(data.users.filter(({ name }) => name.startsWith('A')).length > 1)
    for (const named of [data.users, data.sites, data.campaigns])
      assert.ok(new Set(named.map(({ name }) => name)).size < named.length, 'equal names')
    const names = [data.users, data.publishers, data.advertisers, data.campaigns].flat().map(({ name }) => name)
    for (const character of ['*', ',', '%', '_', '!', "'", 'É'])
      assert.ok(
        names.some(name => name.includes(character)),
        character,
      )
    await withTables(async orm => {
      for (const resource of RESOURCES) {
        const records = data[resource] as unknown as Row[]
        for (const { name, nullable, items, type } of attributesOf(metaOf(orm, resource))) {
          const values = new Set(records.map(record => record[name]))
          if (nullable === true) assert.ok(values.has(null) && values.size > 1, `${resource}.${name} is null here and there`)
          for (const item of items ?? []) assert.ok(values.has(item), `${resource}.${name} is sometimes ${item}`)
          if (type === 'boolean') assert.equal(values.size, 2)
        }
      }
    })
  })

  it('begins with Ann, who may do anything', () => {
    for (const seed of [1, 2, -3, 2 ** 40]) {
      const [ann] = sampleData({ size: 1, seed, password: 'a hash' }).users
      assert.partialDeepStrictEqual(ann, {
        id: 1,
        name: 'Ann Archer',
        email: 'ann@example.com',
        role: 'admin',
        active: true,
        password: 'a hash',
      })
    }
  })

  it('refuses options that make no sense', () => {
    for (const size of [0, -1, 1.5, Number.NaN, Infinity]) assert.throws(() => sampleData({ size }), RangeError)
    for (const seed of [1.5, Number.NaN, Infinity]) assert.throws(() => sampleData({ seed }), RangeError)
    for (const until of ['', 'today', '2026-02-30', '2026-1-1', '0000-01-01', '9999-01-01'])
      assert.throws(() => sampleData({ until }), RangeError)
  })
})

describe('the chance behind it', () => {
  it('is mulberry32', () => {
    // The published function, started where the stream starts.
    let state = new Random(1, 'any').origin
    const reference = (): number => {
      let bits = (state += 0x6d2b79f5)
      bits = Math.imul(bits ^ (bits >>> 15), bits | 1)
      bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61)
      return (bits ^ (bits >>> 14)) >>> 0
    }
    const random = new Random(1, 'any')
    for (let round = 0; round < 1000; round++) assert.equal(random.next(), reference())
  })

  it('never gives two indexes one stream', () => {
    const origins = new Set(Array.from({ length: 100_000 }, (_, index) => new Random(1, 'x', index).origin))
    assert.equal(origins.size, 100_000)
    assert.equal(mix(-1), mix(2 ** 32 - 1))
  })

  it('shares out everything, by rank', () => {
    for (const [total, holders] of [
      [0, 1],
      [1, 1],
      [5, 12],
      [60, 12],
      [10_000, 2000],
    ] as const) {
      const counts = [...shares(total, holders)]
      assert.equal(
        counts.reduce((sum, count) => sum + count, 0),
        total,
      )
      assert.deepEqual(
        counts,
        counts.toSorted((left, right) => right - left),
      )
      assert.ok(counts.slice(holders - Math.floor(holders / 6)).every(count => count === 0))
    }
  })
})

describe('the sample model', () => {
  it('is what the command line serves', () => {
    assert.equal(sample.entities, entities)
    assert.deepEqual(sample.seed, sampleData())
  })

  it('has an index for every foreign key', async () => {
    await withTables(async orm => {
      let keys = 0
      for (const { name: table } of await run(orm, `select name from sqlite_schema where type = 'table' and name not like 'sqlite%'`)) {
        const indexed = await run(
          orm,
          `select i.name as name, c.name as "column" from pragma_index_list('${String(table)}') i, pragma_index_info(i.name) c where c.seqno = 0`,
        )
        for (const { from } of await run(orm, `select "from" from pragma_foreign_key_list('${String(table)}')`)) {
          keys++
          assert.ok(
            indexed.some(({ column }) => column === from),
            `${String(table)}.${String(from)}`,
          )
        }
      }
      assert.equal(keys, 12)
      assert.equal(await orm.schema.getUpdateSchemaSQL(), '', 'the tables are what the model says')
    })
  })

  it('leaves updated_at null until the first update', async () => {
    await withTables(async orm => {
      const em = orm.em.fork()
      const user = em.create(User, { name: 'Bo', email: 'bo@example.com', password: 'x' } as never)
      await em.flush()
      assert.deepEqual(await run(orm, 'select typeof(created_at) as created, updated_at from user'), [
        { created: 'integer', updated_at: null },
      ])
      user.name = 'Bob'
      await em.flush()
      assert.deepEqual(await run(orm, 'select typeof(updated_at) as updated from user'), [{ updated: 'integer' }])
    })
  })

  it('deletes parts with their whole, keeps what needs an owner, and forgets optional references', async () => {
    await withTables(async orm => {
      await loadSample(orm)
      const count = async (sql: string): Promise<unknown> => (await run(orm, `select count(*) as n from ${sql}`))[0]!['n']
      const most = async (table: string, key: string): Promise<number> =>
        (await run(orm, `select ${key} as id from ${table} where ${key} is not null group by 1 order by count(*) desc limit 1`))[0]![
          'id'
        ] as number

      const em = orm.em.fork()
      const site = await most('domain', 'site_id')
      await em.remove(em.getReference(Site, site)).flush()
      assert.equal(await count(`domain where site_id = ${site}`), 0)
      assert.equal(await count(`daily_statistic where site_id = ${site}`), 0)

      const campaign = await most('creative', 'campaign_id')
      await em.remove(em.getReference(Campaign, campaign)).flush()
      for (const table of ['creative', 'daily_statistic', 'campaign_categories'])
        assert.equal(await count(`${table} where campaign_id = ${campaign}`), 0)

      const manager = await most('publisher', 'user_id')
      await em.remove(em.getReference(User, manager)).flush()
      assert.equal(await count(`publisher where user_id = ${manager}`), 0)
      assert.equal(await count('publisher'), 12)

      const publisher = await most('site', 'publisher_id')
      await assert.rejects(orm.em.fork().nativeDelete(Publisher, { id: publisher }), { code: 'SQLITE_CONSTRAINT_FOREIGNKEY' })
      const advertiser = await most('campaign', 'advertiser_id')
      await assert.rejects(orm.em.fork().nativeDelete(Advertiser, { id: advertiser }), { code: 'SQLITE_CONSTRAINT_FOREIGNKEY' })

      const second = orm.em.fork()
      const other = await second.findOneOrFail(Site, { id: await most('domain', 'site_id') }, { populate: ['domains'] })
      const before = Number(await count('domain'))
      const gone = other.domains.length
      other.domains.removeAll()
      await second.flush()
      assert.equal(await count('domain'), before - gone, 'a domain without a site is removed')
    })
  })
})

describe('loadSample', () => {
  it('inserts everything, at any size', async () => {
    for (const options of [{}, { size: 200, seed: 5 }]) {
      await withTables(async orm => {
        await loadSample(orm, options)
        const counts = countSample(options.size)
        for (const resource of RESOURCES) assert.equal(await orm.em.fork().count(metaOf(orm, resource).class), counts[resource], resource)
        const links = [...sampleStreams(options).campaigns].reduce((sum, { categories }) => sum + categories.length, 0)
        assert.deepEqual(await run(orm, 'select count(*) as n from campaign_categories'), [{ n: links }])
        assert.deepEqual(await run(orm, 'pragma foreign_key_check'), [])
        assert.deepEqual(await run(orm, 'pragma integrity_check'), [{ integrity_check: 'ok' }])
      })
    }
  })

  it('stores every value the way a flush of the same records does', async () => {
    const options = { size: 3, seed: 8 }
    const loaded = await withTables(async orm => {
      await loadSample(orm, options)
      return dump(orm)
    })
    const flushed = await withTables(async orm => {
      const data = sampleData(options)
      for (const resource of RESOURCES) {
        const em = orm.em.fork()
        for (const record of data[resource]) {
          const values: Row = { ...record }
          for (const name of ['created_at', 'updated_at']) if (typeof values[name] === 'string') values[name] = new Date(values[name])
          if (typeof values['image'] === 'string') values['image'] = Buffer.from(values['image'], 'base64')
          em.create(metaOf(orm, resource).class, values as never)
        }
        await em.flush()
      }
      return dump(orm)
    })
    assert.deepEqual(loaded, flushed)
  })

  it('tells how far it is', async () => {
    await withTables(async orm => {
      const calls: [number, number][] = []
      await loadSample(orm, { size: 30, onProgress: (done, total) => calls.push([done, total]) })
      const total = Object.values(countSample(30)).reduce((sum, count) => sum + count, 0)
      assert.ok(calls.length > RESOURCES.length)
      assert.deepEqual(calls.at(-1), [total, total])
      for (const [index, call] of calls.entries()) assert.ok(call[1] === total && call[0] > (calls[index - 1]?.[0] ?? 0))
    })
  })

  it('is all or nothing', async () => {
    await withTables(async orm => {
      const em = orm.em.fork()
      await run(orm, `create trigger full before insert on daily_statistic when new.id > 100 begin select raise(abort, 'full'); end`)
      await assert.rejects(loadSample(orm), /full/)
      for (const resource of RESOURCES) assert.equal(await em.count(metaOf(orm, resource).class), 0)
    })
  })
})

describe('progressBar', () => {
  function watched(isTTY: boolean) {
    let time = 0
    const written: string[] = []
    const draw = progressBar({ isTTY, write: text => written.push(text) }, () => time)
    return {
      written,
      at: (milliseconds: number, done: number, total = 200) => {
        time = milliseconds
        draw(done, total)
      },
    }
  }

  it('draws on a terminal after half a second, and cleans up', () => {
    const { at, written } = watched(true)
    at(0, 0)
    at(499, 20)
    assert.deepEqual(written, [])
    at(500, 50)
    assert.deepEqual(written, ['\r[########......................]  25% of 200\u001b[K'])
    at(501, 50)
    assert.equal(written.length, 1, 'the same bar is not drawn again')
    at(600, 199)
    assert.match(written[1]!, / 99% of 200/)
    at(700, 200)
    assert.equal(written[2], '\r\u001b[K')
  })

  it('never draws for quick work', () => {
    const { at, written } = watched(true)
    at(100, 100)
    at(499, 200)
    assert.deepEqual(written, [])
  })

  it('leaves a stream that is no terminal alone', () => {
    const { at, written } = watched(false)
    at(1000, 50)
    at(2000, 200)
    assert.deepEqual(written, [])
  })
})
