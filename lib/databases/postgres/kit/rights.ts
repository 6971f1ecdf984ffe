/** Refuses a role without rights to the change log or triggers, and says what to grant. */
import type { PoolClient } from 'pg'
import { name } from '../../sql/sql.ts'
import { ask } from '../server/sessions.ts'

/** To write. */
const RIGHTS = ['select', 'insert', 'update', 'delete']

/** @param table with its schema, quoted */
export async function describeLacking(session: PoolClient, table: string, rights: readonly string[] = RIGHTS): Promise<string | undefined> {
  const rows = await ask(session, 'select r, current_user from unnest($2::text[]) as r where not has_table_privilege($1, r)', [
    table,
    rights,
  ])
  const [first] = rows
  if (first === undefined) return undefined
  const role = first[1] as string
  const lacking = rows.map(([right]) => right as string).join(', ')
  return `the role "${role}" lacks the rights to ${lacking} on the table ${table}: "grant ${lacking} on ${table} to ${name(role)}"`
}

/** @throws Error in one line if the role may not use the log */
export async function checkLogRights(session: PoolClient, log: string): Promise<void> {
  const lacking = await describeLacking(session, log)
  if (lacking !== undefined) throw new Error(`RestEngine.create: an engine that writes uses the log of changed rows, and ${lacking}.`)
}

/**
 * @param tables without a trigger, with schemas, quoted
 * @throws Error in one line if the role does not own a table
 */
export async function checkOwner(session: PoolClient, tables: readonly string[]): Promise<void> {
  const [found] = await ask(
    session,
    `select t, pg_get_userbyid(c.relowner), current_user from unnest($1::text[]) as t join pg_class c on c.oid = t::regclass
     where not pg_has_role(c.relowner, 'usage') limit 1`,
    [tables],
  )
  if (found === undefined) return
  const [table, owner, role] = found as readonly string[]
  throw new Error(
    `RestEngine.create: the table ${table!} needs a trigger that writes down what changes. ` +
      `Its owner alone may give it one, "${owner!}", ` +
      `and the role is "${role!}": let an engine open the database as "${owner!}" once, or "grant ${name(owner!)} to ${name(role!)}".`,
  )
}
