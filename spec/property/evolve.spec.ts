/**
 * The law of `schema: 'evolve'`: random models, random steps from one to the next, random rows. After each step every value that had a
 * place is where it belongs, what the model lacks is byte for byte as it was, foreign keys hold, and a second start finds nothing to do; a
 * step that rows stand against changes nothing.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import Database from 'better-sqlite3'
import * as fc from 'fast-check'
import { RestEngine } from '../../lib/index.ts'
import type { EngineOptions } from '../../lib/index.ts'
import { defaultNames } from '../../lib/model/resource-names.ts'
import { check, costly } from '../helpers/check.ts'
import { NO_SERVER, WITH_POSTGRES } from '../helpers/stores.ts'
import { Chance, chances, pascal, randomValue, RandomWorld } from '../evolve/random-world.ts'
import { ownSchema } from '../postgres/server-database.ts'

/** Reads what the engine must not touch, past the engine. */
interface Raw {
  /** The values of a column by ID, as texts. */
  column(table: string, column: string): Promise<ReadonlyMap<number, string>>
  /** What would differ if anything had changed. */
  whole(): Promise<unknown>
  /** Columns and tables. */
  columns(table: string): Promise<readonly string[]>
  broken(): Promise<readonly unknown[]>
}

interface Place extends AsyncDisposable {
  readonly database: NonNullable<EngineOptions['database']>
  readonly raw: Raw
}

function filePlace(folder: string): Place {
  const path = join(folder, `${randomUUID()}.sqlite`)
  const read = <T>(run: (db: Database.Database) => T): T => {
    const db = new Database(path, { readonly: true })
    try {
      return run(db)
    } finally {
      db.close()
    }
  }
  return {
    database: path,
    raw: {
      column: async (table, column) =>
        read(db => new Map(db.prepare(`select id, quote("${column}") from "${table}"`).raw().all() as [number, string][])),
      whole: async () => [
        readFileSync(path),
        readdirSync(folder).filter(name => name.includes('before')),
        read(db => db.prepare('select sql from sqlite_schema').all()),
      ],
      columns: async table => read(db => (db.pragma(`table_info("${table}")`) as { name: string }[]).map(({ name }) => name)),
      broken: async () => read(db => db.pragma('foreign_key_check') as unknown[]),
    },
    async [Symbol.asyncDispose]() {
      for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true })
    },
  }
}

function serverPlace(): Place {
  const own = ownSchema()
  return {
    database: own.database,
    raw: {
      column: async (table, column) =>
        new Map(
          (await own.run(`select id, "${column}"::text as value from "${table}"`)).map(row => [row['id'] as number, String(row['value'])]),
        ),
      whole: async () =>
        own.run(
          'select table_name, column_name, data_type, is_nullable, column_default ' +
            'from information_schema.columns where table_schema = current_schema() order by 1, 2',
        ),
      columns: async table =>
        (
          await own.run(
            'select column_name as name from information_schema.columns where table_schema = current_schema() and table_name = $1',
            [table],
          )
        ).map(({ name }) => String(name)),
      broken: async () => [],
    },
    [Symbol.asyncDispose]: () => own[Symbol.asyncDispose](),
  }
}

async function readAll(engine: RestEngine, table: string): Promise<Map<number, Map<string, unknown>>> {
  const { status, body } = await engine.handle('GET', `/v1/${defaultNames(pascal(table)).plural}?limit=1000`)
  assert.equal(status, 200, JSON.stringify(body))
  return new Map((body[body.resource as string] as { id: number }[]).map(({ id, ...row }) => [id, new Map(Object.entries(row))]))
}

/** Adds rows by the API, past which nobody knows how values are stored. */
async function addRows(engine: RestEngine, world: RandomWorld): Promise<void> {
  for (const [name, table] of world.tables) {
    for (let count = world.chance.below(4); count > 0; count--) {
      const body: Record<string, unknown> = {}
      for (const [called, column] of table.columns) {
        if (column.target !== undefined) {
          const ids = [...world.tables.get(column.target)!.rows.keys()]
          body[called] = ids.length === 0 ? null : world.chance.pick(ids)
        } else body[called] = column.nullable && world.chance.often(1, 3) ? null : randomValue(column.kind, world.chance, column.items)
      }
      const answer = await engine.handle('POST', `/v1/${defaultNames(pascal(name)).plural}`, undefined, body)
      // A unique value that is taken, or a required link to an empty table.
      if (answer.status !== 200) continue
      const { id, ...row } = answer.body[answer.body.resource as string] as { id: number } & Record<string, unknown>
      table.rows.set(id, new Map(Object.entries(row)))
    }
  }
}

async function holds(numbers: readonly number[], place: Place, isServer: boolean): Promise<void> {
  const chance = new Chance(numbers)
  let world = new RandomWorld(chance, isServer)
  {
    await using engine = await RestEngine.create({ entities: world.entities(), database: place.database, schema: 'evolve' })
    await addRows(engine, world)
  }
  for (let step = 0; step < 3; step++) {
    const next = new RandomWorld(chance, isServer, world)
    next.change()
    const left = new Map<string, ReadonlyMap<number, string>>()
    for (const [name, table] of world.tables)
      for (const column of [...table.left, ...[...table.columns.keys()].filter(each => next.tables.get(name)!.left.has(each))])
        left.set(`${name} ${column}`, await place.raw.column(name, column))
    const before = await place.raw.whole()
    const { fill, renamed, drop } = next
    const options: EngineOptions = {
      entities: next.entities(),
      database: place.database,
      schema: 'evolve',
      fill: fill as NonNullable<EngineOptions['fill']>,
      renamed,
      drop,
    }
    if (next.refused !== undefined) {
      await assert.rejects(
        RestEngine.create(options).then(engine => engine.close()),
        new RegExp(next.refused),
      )
      assert.deepEqual(await place.raw.whole(), before)
      continue
    }
    world = next
    {
      await using engine = await RestEngine.create(options)
      for (const [name, table] of world.tables) assert.deepEqual(await readAll(engine, name), table.rows, name)
    }
    for (const [name, table] of world.tables) {
      if (drop !== false) table.left.clear()
      const wanted = ['id', ...table.columns.keys(), ...table.left]
      assert.deepEqual([...(await place.raw.columns(name))].toSorted(), wanted.toSorted())
      for (const column of table.left)
        assert.deepEqual(await place.raw.column(name, column), left.get(`${name} ${column}`), `${name}.${column}`)
    }
    assert.deepEqual(await place.raw.broken(), [])
    {
      await using engine = await RestEngine.create(options)
      assert.deepEqual(
        engine.notes.filter(note => note.startsWith('Evolved')),
        [],
      )
      await addRows(engine, world)
    }
  }
}

describe('a model that changes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'mikro-rest-law-'))
  after(() => rmSync(folder, { recursive: true, force: true }))

  it('keeps each value where it belongs, in a file', async () => {
    await check(
      fc.asyncProperty(chances, async numbers => {
        await using place = filePlace(folder)
        await holds(numbers, place, false)
      }),
      { label: 'evolve a file', runs: costly(40) },
    )
  })

  it('keeps each value where it belongs, on a server', { skip: WITH_POSTGRES ? NO_SERVER : 'without PostgreSQL' }, async () => {
    await check(
      fc.asyncProperty(chances, async numbers => {
        await using place = serverPlace()
        await holds(numbers, place, true)
      }),
      { label: 'evolve a server', runs: costly(4) },
    )
  })
})
