/** The models of growth, of any size, with their tables, rows and hand-written lists. */
import { defineEntity, p } from '@mikro-orm/sqlite'
import type { EntitySchema } from '@mikro-orm/sqlite'
import type Database from 'better-sqlite3'
import { envelope } from '../by-hand.ts'
import { SIZE, TABLES, entities, rowsOf } from '../seed.ts'

/** A database that both contenders have. */
export interface World {
  /** Entities are made anew each time, because MikroORM changes the schemas that it is given. */
  readonly entities: () => readonly EntitySchema[]
  /** The tables as MikroORM makes them. */
  readonly tables: readonly string[]
  readonly rows: readonly string[]
}

/** Fewer rows than a page, so that the length of a page is the count. */
const FEW = 90

function numbers(count: number): string {
  return `with recursive number(i) as (values (1) union all select i + 1 from number where i < ${count})`
}

/** The users of the trials of `npm run bench`. */
export function users(count: number, sites: number): World {
  return { entities: () => entities, tables: TABLES, rows: rowsOf({ users: count, sites }) }
}

export const USUAL_USERS = users(SIZE.users, SIZE.sites)

const Link = defineEntity({
  name: 'Link',
  properties: { id: p.integer().primary(), name: p.string().length(60), parent: () => p.manyToOne(Link).nullable() },
})

/** Records with a chain of parents. */
export const CHAIN: World = {
  entities: () => [Link],
  tables: [
    'CREATE TABLE `link` (`id` integer not null primary key autoincrement, `name` text not null, `parent_id` integer null, ' +
      'constraint `link_parent_id_foreign` foreign key (`parent_id`) references `link` (`id`) on delete set null)',
    'CREATE INDEX `link_parent_id_index` on `link` (`parent_id`)',
  ],
  rows: [`${numbers(10_000)} insert into link (id, name, parent_id) select i, printf('Link %d', i), 1 + (i * 7919 % 10000) from number`],
}

/** Returns the query `expand` for that many levels of parents. */
export function parents(levels: number): string {
  return Array.from({ length: levels }, () => 'parent').join('.')
}

interface LinkRow {
  readonly id: number
  readonly name: string
  readonly parent_id: number | null
}

interface LinkRecord {
  readonly id: number
  readonly name: string
  parent?: LinkRecord | null
}

/** `GET /v1/links?id>=:first&id<:end&depth=0&expand=parent.parent` */
export function listLinks(db: Database.Database): (first: number, end: number, levels: number) => string {
  const page = db.prepare<unknown[], LinkRow>('select id, name, parent_id from link where id >= ? and id < ? order by id limit ?')
  const among = db.prepare<[string], LinkRow>('select id, name, parent_id from link where id in (select value from json_each(?))')
  return (first, end, levels) => {
    let rows = page.all(first, end, 100)
    let records: LinkRecord[] = rows.map(({ id, name }) => ({ id, name }))
    const shown = records
    for (let level = 0; level < levels; level++) {
      const found = new Map<number, LinkRow>()
      for (const row of among.all(JSON.stringify([...new Set(rows.map(row => row.parent_id))]))) found.set(row.id, row)
      const next: LinkRow[] = []
      const above: LinkRecord[] = []
      for (const [index, record] of records.entries()) {
        const row = found.get(rows[index]!.parent_id ?? 0)
        if (row === undefined) record.parent = null
        else {
          next.push(row)
          above.push((record.parent = { id: row.id, name: row.name }))
        }
      }
      rows = next
      records = above
    }
    const filter = [
      ['id>=', String(first)],
      ['id<', String(end)],
    ]
    return envelope('links', 'id.asc', 0, filter, shown.length, () => '', shown)
  }
}

export const COLUMNS = 32

const Wide = defineEntity({
  name: 'Wide',
  properties: { id: p.integer().primary(), ...Object.fromEntries(columns().map(name => [name, p.integer()])) },
})

function columns(): string[] {
  return Array.from({ length: COLUMNS }, (_, index) => `c${index}`)
}

/** Records with many numbers. */
export const WIDE: World = {
  entities: () => [Wide],
  tables: [
    `CREATE TABLE \`wide\` (\`id\` integer not null primary key autoincrement, ${columns()
      .map(name => `\`${name}\` integer not null`)
      .join(', ')})`,
  ],
  rows: [
    `${numbers(FEW)} insert into wide select i, ${columns()
      .map((_, index) => `i + ${index}`)
      .join(', ')} from number`,
  ],
}

/** A filter that every record meets. */
export type Filter = readonly [name: string, operator: '>=' | '>' | '<=' | '<', value: string]

/** `GET /v1/wides?attributes=id,c0&c0>=0&c1>=0...` */
export function listWide(db: Database.Database): (filters: readonly Filter[]) => string {
  const known = new Map<string, Database.Statement>()
  return filters => {
    const conditions = filters.map(([name, operator]) => `${name} ${operator} ?`).join(' and ')
    const sql = `select id, c0 from wide${conditions === '' ? '' : ` where ${conditions}`} order by id limit 100`
    let statement = known.get(sql)
    if (statement === undefined) known.set(sql, (statement = db.prepare(sql)))
    const records = statement.all(...filters.map(([, , value]) => Number(value)))
    const filter = filters.map(([name, operator, value]) => [name + operator, value])
    return envelope('wides', 'id.asc', 0, filter, records.length, () => '', records)
  }
}

/** Makes that many entities, each of which belongs to the one before it. */
export function things(count: number): World {
  const tables: string[] = []
  const rows: string[] = []
  for (let index = 0; index < count; index++) {
    const [table, above] = [`thing${index}`, `thing${index - 1}`]
    const parent =
      index === 0
        ? ''
        : `, \`parent_id\` integer null, constraint \`${table}_parent_id_foreign\` ` +
          `foreign key (\`parent_id\`) references \`${above}\` (\`id\`) on delete set null`
    tables.push(
      `CREATE TABLE \`${table}\` (\`id\` integer not null primary key autoincrement, ` +
        `\`name\` text not null, \`note\` text null, \`number\` integer null${parent})`,
    )
    if (index > 0) tables.push(`CREATE INDEX \`${table}_parent_id_index\` on \`${table}\` (\`parent_id\`)`)
    rows.push(`${numbers(20)} insert into ${table} (id, name, note, number) select i, printf('Thing %d', i), null, i from number`)
  }
  return { entities: () => thingEntities(count), tables, rows }
}

function thingEntities(count: number): EntitySchema[] {
  const made: EntitySchema[] = []
  for (let index = 0; index < count; index++) {
    const parent = made[index - 1]
    const properties = {
      id: p.integer().primary(),
      name: p.string().length(60),
      note: p.string().nullable(),
      number: p.integer().nullable(),
      ...(parent === undefined ? {} : { parent: () => p.manyToOne(parent).nullable() }),
      ...(index === count - 1 ? {} : { children: () => p.oneToMany(made[index + 1]!).mappedBy('parent' as never) }),
    }
    made.push(defineEntity({ name: `Thing${index}`, properties: properties as never }) as never)
  }
  return made
}

/** `GET /v1/thing:index` with `depth=0` */
export function listThings(db: Database.Database): (index: number) => string {
  const known = new Map<number, Database.Statement>()
  return index => {
    let statement = known.get(index)
    if (statement === undefined) {
      known.set(index, (statement = db.prepare(`select id, name, note, number from thing${index} order by id limit 100`)))
    }
    const records = statement.all()
    return envelope(`thing${index}s`, 'id.asc', 0, [], records.length, () => '', records)
  }
}
