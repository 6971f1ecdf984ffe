/** Finds rows refused by new types, checks, unique indexes and foreign keys. */
import type { PoolClient } from 'pg'
import type { Column, DatabaseTable, ForeignKey, TableDifference } from '@mikro-orm/postgresql'
import { show, BareValue, sayDuplicates, type Plan, type FoundRows } from '../../evolve/plan.ts'
import { exampleFill, keyOfTable, type EvolveRequest } from '../../evolve/request.ts'
import { name } from '../../sql/sql.ts'
import { ask, command } from '../server/sessions.ts'

/** Names rows by key, else by place. */
function keyOf(table: DatabaseTable): { readonly names: readonly string[]; readonly sql: string } {
  const columns = table.getPrimaryKey()?.columnNames ?? []
  return columns.length === 0
    ? { names: ['row'], sql: 'ctid::text' }
    : { names: columns, sql: columns.map(column => `${name(column)}::text`).join(', ') }
}

interface CheckContext {
  readonly session: PoolClient
  readonly plan: Plan
  readonly request: EvolveRequest
}

/**
 * Reads the first rows, with keys as texts.
 *
 * @param rest SQL behind the table
 * @param value SQL of a text to show behind the key
 */
async function findRows(session: PoolClient, table: DatabaseTable, rest: string, value?: string): Promise<FoundRows> {
  const { names: key, sql } = keyOf(table)
  const from = `from ${table.getQuotedName()} ${rest}`
  const [[count] = [0]] = await ask(session, `select count(*)::int ${from}`)
  const found = Number(count) === 0 ? [] : await ask(session, `select ${sql}${value === undefined ? '' : `, ${value}`} ${from} limit 5`)
  const rows = found.map(row => row.slice(0, key.length).map(each => new BareValue(each)))
  return { key, count: Number(count), rows, ...(value === undefined ? {} : { values: found.map(row => row.at(-1)) }) }
}

export async function checkRows(difference: TableDifference, context: CheckContext): Promise<void> {
  const { toTable, fromTable } = difference
  for (const { column, fromColumn, changedProperties } of Object.values(difference.changedColumns)) {
    if (changedProperties.has('type')) await checkType(toTable, fromColumn, column, context)
    if (changedProperties.has('nullable') && column.nullable !== true) await checkFilled(toTable, column, context)
  }
  for (const check of [...Object.values(difference.addedChecks), ...Object.values(difference.changedChecks)])
    await checkCondition(toTable, check.name, String(check.expression), context)
  for (const key of [...Object.values(difference.addedForeignKeys), ...Object.values(difference.changedForeignKeys)])
    if (key.columnNames.every(column => fromTable.hasColumn(column))) await checkLink(toTable, key, context)
  for (const index of [...Object.values(difference.addedIndexes), ...Object.values(difference.changedIndexes)]) {
    const isPlain = index.unique && index.expression === undefined && index.columnNames.length > 0
    if (isPlain && index.columnNames.every(column => fromTable.hasColumn(column)))
      await checkUnique(toTable, index.columnNames, index.where, context)
  }
}

/** Values of these types are respelt: `2024-1-5` becomes `2024-01-05`. */
const RESPELT = /^(?:timestamp|date|time|json|uuid)/i

async function checkType(table: DatabaseTable, from: Column, to: Column, { session, plan }: CheckContext): Promise<void> {
  const [column, quoted] = [name(from.name), table.getQuotedName()]
  const isRespelt = RESPELT.test(to.type) && /^(?:text|varchar|char)/i.test(from.type)
  const back = isRespelt ? 'true' : `(${column}::${castOf(to)})::${castOf(from)}::text is not distinct from ${column}::text`
  if (!isRespelt && (await isTrueOfAll(session, `select bool_and(${back}) from ${quoted}`))) return
  await command(session, FITS)
  const types = [from, to].map(each => `$$${castOf(each)}$$`).join(', ')
  const differs = `where ${column} is not null and not pg_temp.mikro_fits(${column}::text, ${types}, ${!isRespelt})`
  plan.refuseType(`${table.name}.${from.name}`, to.type, await findRows(session, table, differs, `${column}::text`))
}

function castOf({ type }: Column): string {
  return type.replace(/^serial$/i, 'int').replace(/^bigserial$/i, 'bigint')
}

/** A value fits another type, and comes back unchanged. */
const FITS = `create or replace function pg_temp.mikro_fits(value text, source text, target text, back boolean) returns boolean
  language plpgsql as $f$
  declare same boolean;
  begin
    if back then
      execute format('select (($1::%s)::%s)::%s::text is not distinct from $1::%s::text', source, target, source, source)
        into same using value;
    else execute format('select ($1::%s)::%s is not null', source, target) into same using value;
    end if;
    return same;
  exception when others then return false;
  end $f$`

/** False where the question fails, as a cast may. */
async function isTrueOfAll(session: PoolClient, sql: string): Promise<boolean> {
  await command(session, 'savepoint mikro_question')
  try {
    const [[answer] = [true]] = await ask(session, sql)
    return answer === null || answer === true || answer === 't'
  } catch {
    await command(session, 'rollback to savepoint mikro_question')
    return false
  } finally {
    await command(session, 'release savepoint mikro_question')
  }
}

async function checkFilled(table: DatabaseTable, { name: column }: Column, { session, plan, request }: CheckContext): Promise<void> {
  const way = exampleFill(request, keyOfTable(request, table), column)
  plan.refuseEmpty(`${table.name}.${column}`, way, await findRows(session, table, `where ${name(column)} is null`))
}

async function checkCondition(table: DatabaseTable, check: string, expression: string, { session, plan }: CheckContext): Promise<void> {
  const from = `from ${table.getQuotedName()} where not (${expression})`
  // A condition on a new column cannot be asked yet.
  if (await isTrueOfAll(session, `select count(*) = 0 ${from}`)) return
  if (!(await isTrueOfAll(session, `select count(*) >= 0 ${from}`))) return
  plan.refuseCheck(table.name, check, expression, await findRows(session, table, `where not (${expression})`))
}

async function checkLink(table: DatabaseTable, key: ForeignKey, { session, plan }: CheckContext): Promise<void> {
  const target = key.referencedTableName.split('.').map(name).join('.')
  const filled = key.columnNames.map(column => `t.${name(column)} is not null`).join(' and ')
  const [[isThere] = [false]] = await ask(session, 'select to_regclass($1) is not null', [target])
  const same = key.columnNames
    .map((column, at) => `p.${name(key.referencedColumnNames[at]!)}::text = t.${name(column)}::text`)
    .join(' and ')
  const orphaned = isThere === true || isThere === 't' ? ` and not exists (select from ${target} as p where ${same})` : ''
  const found = await findRows(session, table, `as t where ${filled}${orphaned}`)
  plan.refuseLink(table.name, key.columnNames, key.referencedTableName.split('.').at(-1)!, found)
}

async function checkUnique(
  table: DatabaseTable,
  columns: readonly string[],
  where: string | undefined,
  { session, plan }: CheckContext,
): Promise<void> {
  const list = columns.map(name).join(', ')
  const filled = columns.map(column => `${name(column)} is not null`).join(' and ')
  const key = keyOf(table)
  const rows = await ask(
    session,
    `select ${columns.map(column => `${name(column)}::text`).join(', ')}, string_agg(concat_ws('~', ${key.sql}), ', ') ` +
      `from ${table.getQuotedName()} where ${filled}${where === undefined ? '' : ` and (${where})`} ` +
      `group by ${list} having count(*) > 1 limit 5`,
  )
  if (rows.length === 0) return
  const named = rows.map(row => `${row.slice(0, -1).map(show).join(', ')} in ${key.names.join('~')} ${String(row.at(-1)).slice(0, 60)}`)
  plan.faults.push(sayDuplicates(table.name, columns, named))
}
