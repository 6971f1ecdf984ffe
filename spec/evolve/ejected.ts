/** A database that others have made, and the model that `--eject` writes of it: what its catalogue and its rows are, without the engine. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { eject } from '../../lib/doors/cli/eject.ts'
import { importModule } from '../../lib/doors/cli/modules.ts'
import { RestEngine } from '../../lib/index.ts'
import type { EngineOptions } from '../../lib/index.ts'
import { ROOT } from '../helpers/command.ts'
import type { OwnDatabase, OwnSchema } from '../postgres/server-database.ts'

export type Place = NonNullable<EngineOptions['database']>

/** The options that `--eject` writes for a database, without those that say where it is and that it is left alone. */
export async function ejectModel(database: Place): Promise<EngineOptions> {
  const folder = await mkdtemp(join(ROOT, 'node_modules', '.mikro-rest-'))
  // What loads TypeScript may set it.
  const { TSX_TSCONFIG_PATH: config } = process.env
  try {
    await mkdir(join(folder, 'node_modules'))
    {
      await using engine = await RestEngine.create({ database, readOnly: true })
      await eject(engine, { options: { database }, running: {}, title: 'x', examples: undefined }, join(folder, 'out'))
    }
    const { schema: _, database: __, ...model } = (await importModule(join(folder, 'out', 'index.ts')))['default'] as EngineOptions
    return model
  } finally {
    if (config === undefined) delete process.env['TSX_TSCONFIG_PATH']
    else process.env['TSX_TSCONFIG_PATH'] = config
    await rm(folder, { recursive: true })
  }
}

/** All that a file says of its tables, and all its rows. */
export function describeFile(path: string): unknown {
  const db = new Database(path, { readonly: true })
  try {
    const objects = db.prepare('select type, name, tbl_name, sql from sqlite_schema order by type, name').raw().all() as string[][]
    const tables = objects.filter(([type, , , sql]) => type === 'table' && !/^create virtual/i.test(sql ?? ''))
    const rows = tables.map(([, name]) => [
      name,
      db
        .prepare(`select * from "${name!.replaceAll('"', '""')}"`)
        .raw()
        .all(),
    ])
    return { objects, rows }
  } finally {
    db.close()
  }
}

const CATALOGUE = [
  `select c.relname, a.attnum, a.attname, format_type(a.atttypid, a.atttypmod) as type, a.attnotnull, a.attidentity, a.attgenerated,
     a.attcollation, pg_get_expr(d.adbin, d.adrelid) as expression, col_description(c.oid, a.attnum) as comment
   from pg_attribute a join pg_class c on c.oid = a.attrelid left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
   where c.relnamespace = any$1 and c.relkind in ('r', 'p', 'v', 'm', 'f', 'c') and a.attnum > 0 and not a.attisdropped order by 1, 2`,
  `select c.relname, k.conname, pg_get_constraintdef(k.oid) as definition, k.convalidated
   from pg_constraint k join pg_class c on c.oid = k.conrelid where c.relnamespace = any$1 order by 1, 2`,
  `select c.relname, c.relkind, c.relrowsecurity, c.relforcerowsecurity, obj_description(c.oid) as comment,
     case when c.relkind = 'i' then pg_get_indexdef(c.oid) when c.relkind in ('v', 'm') then pg_get_viewdef(c.oid) end as definition
   from pg_class c where c.relnamespace = any$1 order by 1`,
  `select t.typname, e.enumlabel from pg_type t join pg_enum e on e.enumtypid = t.oid where t.typnamespace = any$1 order by 1, e.enumsortorder`,
  `select c.relname, g.tgname, g.tgenabled, pg_get_triggerdef(g.oid) as definition
   from pg_trigger g join pg_class c on c.oid = g.tgrelid where c.relnamespace = any$1 and not g.tgisinternal order by 1, 2`,
  `select polname, pg_get_expr(polqual, polrelid) as using from pg_policy p join pg_class c on c.oid = p.polrelid
   where c.relnamespace = any$1 order by 1`,
  `select proname, prosrc from pg_proc where pronamespace = any$1 order by 1, 2`,
]

/** All that the catalogues of a server say of the schemas of a database, and all rows. */
export async function describeServerDatabase(own: OwnSchema | OwnDatabase): Promise<unknown> {
  const schemas =
    "(select oid from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema'" +
    `${'schema' in own.database ? ` and nspname = '${own.database.schema as string}'` : ''})`
  const found: unknown[] = []
  for (const sql of CATALOGUE) found.push(await own.run(sql.replaceAll('$1', schemas)))
  const tables = await own.run(
    `select oid::regclass::text as name, relkind from pg_class where relnamespace = any${schemas} and relkind in ('r', 'p', 'S') order by 1`,
  )
  for (const { name, relkind } of tables)
    found.push([name, await own.run(`select ${relkind === 'S' ? 'last_value' : 't'}::text as row from ${name as string} as t`)])
  return found
}
