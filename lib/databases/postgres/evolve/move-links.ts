/** Moves links of a database from a column to a table of links, or back. */
import type { PoolClient } from 'pg'
import type { MikroORM } from '@mikro-orm/core'
import type { SqlSchemaGenerator } from '@mikro-orm/postgresql'
import type { FilledRows } from '../../evolve/compute-fill.ts'
import { findMovedLinks, gatherLinks, spreadLinks, type MovedLinks, type OldLink } from '../../evolve/move-links.ts'
import type { Plan } from '../../evolve/plan.ts'
import type { EvolveRequest } from '../../evolve/request.ts'
import { name } from '../../sql/sql.ts'
import { ask } from '../server/sessions.ts'

interface Moving {
  readonly orm: MikroORM
  readonly session: PoolClient
  readonly request: EvolveRequest
  readonly plan: Plan
  readonly schemas: readonly string[]
}

export async function findMoves({ orm, session, request, plan, schemas }: Moving): Promise<MovedLinks> {
  const found = await ask(
    session,
    `select o.relname, a.attname, t.relname from pg_constraint c
       join pg_class o on o.oid = c.conrelid join pg_class t on t.oid = c.confrelid
       join pg_attribute a on a.attrelid = o.oid and a.attnum = c.conkey[1]
       where c.contype = 'f' and cardinality(c.conkey) = 1 and o.relnamespace = to_regnamespace(quote_ident($1))`,
    [schemas[0]!],
  )
  const all = found.map(([table, column, target]): OldLink => ({ table: String(table), column: String(column), target: String(target) }))
  const targets = new Map(
    (orm.schema as SqlSchemaGenerator)
      .getTargetSchema()
      .getTables()
      .map(table => [table.name, table]),
  )
  const columns = await ask(
    session,
    `select c.relname, a.attname from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
       where c.relkind in ('r', 'p') and c.relnamespace = to_regnamespace(quote_ident($1))`,
    [schemas[0]!],
  )
  const known = Map.groupBy(columns, ([table]) => String(table))
  const lone = Map.groupBy(
    all.filter(({ table }) => !targets.has(table)),
    ({ table }) => table,
  )
  const old = {
    links: all.filter(({ table, column }) => targets.get(table)?.hasColumn(column) === false),
    pivots: [...lone].flatMap(([table, links]) => {
      const [one, other] = links
      return links.length === 2 ? [{ name: table, links: [one!, other!] as const }] : []
    }),
    hasTable: (table: string): boolean => known.has(table),
    hasColumn: (table: string, column: string): boolean => known.get(table)?.some(([, each]) => each === column) === true,
  }
  return findMovedLinks(orm, request, old, plan)
}

export async function moveLinks({ spread, gather }: MovedLinks, { orm, session, request, plan, schemas }: Moving): Promise<FilledRows[]> {
  const place = (table: string): string => `${name(schemas[0]!)}.${name(table)}`
  for (const each of gather) {
    const [from, to] = each.columns.map(name) as [string, string]
    const rows = await ask(session, `select ${from}::text, ${to}::text from ${place(each.pivot.name)} where ${to} is not null`)
    gatherLinks(each, rows as unknown as [string, string][], request, plan)
  }
  const moved: FilledRows[] = []
  for (const each of spread) {
    const { table, column } = each.link
    const key = [...orm.getMetadata()].find(({ tableName }) => tableName === table)!.getPrimaryProps()[0]!.fieldNames[0]!
    const rows = await ask(
      session,
      `select ${name(key)}::text, ${name(column)}::text from ${place(table)} where ${name(column)} is not null`,
    )
    moved.push(spreadLinks(each, rows as unknown as [string, string][]))
  }
  return moved
}
