/** Rename columns: renames columns as asked, and checks of enums, which bear the column's name. */
import type { PoolClient } from 'pg'
import type { MikroORM } from '@mikro-orm/core'
import type { SqlSchemaGenerator } from '@mikro-orm/postgresql'
import type { Plan } from '../../evolve/plan.ts'
import { keyOfTable, type EvolveRequest } from '../../evolve/request.ts'
import { name } from '../../sql/sql.ts'
import { ask, command } from '../server/sessions.ts'
import { findRenamed } from '../../evolve/find-renames.ts'

export async function renameColumns(orm: MikroORM, session: PoolClient, request: EvolveRequest, plan: Plan): Promise<void> {
  const { renamed } = request
  if (renamed.size === 0) return
  const tables = (orm.schema as SqlSchemaGenerator).getTargetSchema().getTables()
  for (const table of tables) {
    const quoted = table.getQuotedName()
    for (const renaming of renamed.get(keyOfTable(request, table)) ?? []) {
      const { to } = renaming
      const columns = (
        await ask(session, 'select attname from pg_attribute where attrelid = to_regclass($1) and attnum > 0 and not attisdropped', [
          quoted,
        ])
      ).map(([each]) => String(each))
      if (columns.length === 0) continue
      const find = (column: string): string | undefined => (columns.includes(column) ? column : undefined)
      const old = findRenamed(renaming, table.name, find, column => table.hasColumn(column), plan)
      if (old === undefined) continue
      const statements = [`alter table ${quoted} rename column ${name(old)} to ${name(to)}`]
      const naming = orm.config.getNamingStrategy()
      const [check, next] = [old, to].map(column => naming.indexName(table.name, [column], 'check')) as [string, string]
      const found = await ask(session, 'select 1 from pg_constraint where conrelid = to_regclass($1) and conname = $2', [quoted, check])
      if (found.length > 0) statements.push(`alter table ${quoted} rename constraint ${name(check)} to ${name(next)}`)
      for (const statement of statements) await command(session, statement)
      plan.add(`${table.name}.${old}: the column becomes "${to}", with its values.`, statements)
    }
  }
}
