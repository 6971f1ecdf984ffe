/**
 * Rename columns: gives columns of a server the new names that were asked for, and the checks of enums on them, which bear the name of the
 * column.
 */
import type { PoolClient } from 'pg'
import type { MikroORM } from '@mikro-orm/core'
import type { SqlSchemaGenerator } from '@mikro-orm/postgresql'
import type { Plan } from '../../evolve/plan.ts'
import { keyOfTable } from '../../evolve/request.ts'
import type { EvolveRequest } from '../../evolve/request.ts'
import { name } from '../../sql/sql.ts'
import { ask, command } from '../server/sessions.ts'

export async function renameColumns(orm: MikroORM, session: PoolClient, request: EvolveRequest, plan: Plan): Promise<void> {
  const { renamed } = request
  if (renamed.size === 0) return
  const tables = (orm.schema as SqlSchemaGenerator).getTargetSchema().getTables()
  for (const table of tables) {
    const quoted = table.getQuotedName()
    for (const { asked, from, to } of renamed.get(keyOfTable(request, table)) ?? []) {
      const columns = (
        await ask(session, 'select attname from pg_attribute where attrelid = to_regclass($1) and attnum > 0 and not attisdropped', [
          quoted,
        ])
      ).map(([each]) => String(each))
      if (columns.length === 0) continue
      const old = from.find(column => columns.includes(column) && !table.hasColumn(column))
      if (old === undefined) {
        // A start after the first finds the new name there.
        if (!columns.includes(to))
          plan.faults.push(`"${asked}" cannot be renamed, since "${table.name}" has no column ${from.map(name).slice(0, 2).join(' or ')}`)
        continue
      }
      if (columns.includes(to)) {
        plan.faults.push(
          `${table.name}.${old} cannot become "${to}", since the table has both columns: --drop drops the one that the model lacks`,
        )
        continue
      }
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
