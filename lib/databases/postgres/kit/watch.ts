/** Compiles the statements that read a transaction's changed rows from the log. */
import type { Watched, WatchedList, WatchedTable } from '../../../records/database/changes.ts'
import { discriminatorCondition, type Recall } from '../../sql/from-clause.ts'
import type { Flavour } from '../../sql/flavour.ts'
import { compileList, linkColumns, type CompiledList } from '../../sql/list-changes.ts'
import { compileImage, recalledKeys, recalledMembers, type CompiledImage, type RecalledKey } from '../../sql/row-image.ts'
import { name, sql } from '../../sql/sql.ts'
import { findLogged, type ChangeLog, type LoggedTable } from './change-log.ts'

const OLD = '"old"'
const NEW = '"new"'

/** The largest `bigint`. */
const MAX_POSITION = 2n ** 63n - 1n

/**
 * With the position in a subquery and a range with two ends, PostgreSQL expects few rows, uses the index and keeps the plan. For a bare
 * parameter, PostgreSQL would plan each time, longer than the statement takes.
 */
const behind = (position: string): string => `n > (select ${position}) and n < ${MAX_POSITION} and tx = pg_current_xact_id_if_assigned()`

/** Parameters: the last entry read, the transaction's start. */
const MINE = behind('greatest($1::bigint, $2::bigint)')

export type WatchedRows = {
  /** Undefined for a pivot table. */
  readonly table: string | undefined
  /** Position, kind, and columns of the old and the new row. */
  readonly sql: string
  /** As `sql`, with entries of all other tables: an OID for the kind, and no columns. */
  readonly withOthers: string
  readonly oid: number
} & (
  | { readonly kind: 'table'; readonly watched: WatchedTable; readonly image: CompiledImage }
  | { readonly kind: 'list'; readonly list: CompiledList; readonly width: number }
)

export interface CompiledWatch {
  /** Reads the changed tables, each with the last position. */
  readonly touched: string
  readonly byTable: ReadonlyMap<number, readonly WatchedRows[]>
}

const compiledWatches = new WeakMap<Watched, CompiledWatch>()

export function compileWatch(watched: Watched, log: ChangeLog, flavour: Flavour): CompiledWatch {
  let compiled = compiledWatches.get(watched)
  if (compiled !== undefined) return compiled
  const byTable = new Map<number, WatchedRows[]>()
  const add = (table: string, make: (logged: LoggedTable) => WatchedRows): void => {
    const logged = findLogged(log, table)
    if (logged !== undefined) byTable.set(logged.oid, [...(byTable.get(logged.oid) ?? []), make(logged)])
  }
  for (const table of watched.tables) add(table.resource.table, logged => compileTable(table, logged, log, flavour))
  for (const list of watched.lists) add(list.attribute.via.table, logged => compileLinks(list, logged, log, flavour))
  compiled = { touched: `select tbl, max(n) from ${log.quoted} where ${MINE} group by tbl`, byTable }
  compiledWatches.set(watched, compiled)
  return compiled
}

function compileTable(watched: WatchedTable, logged: LoggedTable, log: ChangeLog, flavour: Flavour): WatchedRows {
  const { resource, fields } = watched
  const recall = createRecall(recalledKeys({ fields }), log)
  const compile = (alias: string): CompiledImage => compileImage({ resource, fields }, alias, flavour, recall)
  const image = compile(NEW)
  return {
    kind: 'table',
    table: resource.table,
    watched,
    image,
    ...selectEntries(logged, log, [...compile(OLD).columns, ...image.columns]),
  }
}

function compileLinks(list: WatchedList, logged: LoggedTable, log: ChangeLog, flavour: Flavour): WatchedRows {
  const recall = createRecall(recalledMembers(list), log)
  const [before, after] = [linkColumns(list, OLD, flavour, recall), linkColumns(list, NEW, flavour, recall)]
  const meant = (alias: string): string | undefined =>
    discriminatorCondition(list.attribute.via.discriminator, column => `${alias}.${name(column)}`)?.text
  const isMeant = meant(OLD) === undefined ? undefined : `case when l.op = 'I' then ${meant(NEW)!} else ${meant(OLD)!} end`
  return {
    kind: 'list',
    table: undefined,
    list: compileList(list, flavour, NEW, recall),
    width: after.length,
    ...selectEntries(logged, log, [...before, ...after], isMeant),
  }
}

function selectEntries(
  { oid, quoted }: LoggedTable,
  log: ChangeLog,
  columns: readonly string[],
  isMeant?: string,
): Pick<WatchedRows, 'oid' | 'sql' | 'withOthers'> {
  // `offset 0` parses each text once, not once for each column.
  const select = (entries: string, where: string): string =>
    `select l.n, l.op, ${columns.join(', ')} from (select ${entries} offset 0) as l, ` +
    `lateral (select (l.o).*) as ${OLD}, lateral (select (l.w).*) as ${NEW}${where}`
  const ofTable = (value: string): string => `case when tbl = ${oid} then ${value} end`
  const rows = `${ofTable('old')}::${quoted} as o, ${ofTable('new')}::${quoted} as w`
  const others = `n, case when tbl = ${oid} then op::text else tbl::text end as op, ${rows}`
  return {
    oid,
    sql: select(
      `n, op, old::${quoted} as o, new::${quoted} as w from ${log.quoted} where ${MINE} and tbl = ${oid}`,
      isMeant === undefined ? '' : ` where ${isMeant}`,
    ),
    withOthers: select(
      `${others} from ${log.quoted} where ${MINE}`,
      isMeant === undefined ? '' : ` where l.op not in ('I', 'U', 'D') or (${isMeant})`,
    ),
  }
}

/** For deleted or changed linked records. */
function createRecall(keys: readonly RecalledKey[], log: ChangeLog): Recall {
  const recalled = new Map(keys.map(key => [key.name, key]))
  return (found, referred, part, column) => {
    const key = recalled.get(referred)
    const logged = key === undefined ? undefined : findLogged(log, key.table)
    if (key === undefined || logged === undefined) return found
    const rows =
      `select old::${logged.quoted} as r ` +
      `from ${log.quoted} where ${behind('$2::bigint')} and tbl = ${logged.oid} and old is not null offset 0`
    const recalledKey = sql`select (g.r).${name(key.key[part]!)} from (${rows}) as g where (g.r).${name(key.column)} = ${column} limit 1`
    return sql`coalesce(${found}, (${recalledKey}))`
  }
}
