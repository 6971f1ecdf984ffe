/**
 * Reads the whole content of a SQLite file, to compare it before and after: the text of its schema, and every row with the types of its
 * values.
 */
import Database from 'better-sqlite3'

export interface Content {
  /** Type, name, table and text of all objects, in their order. */
  readonly schema: readonly unknown[][]
  /** The rows by table, every value with its type. */
  readonly rows: Readonly<Record<string, readonly unknown[][]>>
}

export function contentOf(path: string): Content {
  const db = new Database(path, { readonly: true })
  try {
    const schema = db.prepare('select type, name, tbl_name, sql from sqlite_schema order by rowid').raw().all() as unknown[][]
    const rows: Record<string, readonly unknown[][]> = {}
    for (const [type, name] of schema as [string, string][]) {
      if (type !== 'table') continue
      const columns = (db.pragma(`table_xinfo("${name.replaceAll('"', '""')}")`) as { name: string; hidden: number }[]).filter(
        ({ hidden }) => hidden !== 1,
      )
      const values = columns.map(column => {
        const quoted = `"${column.name.replaceAll('"', '""')}"`
        return `typeof(${quoted}) || ':' || coalesce(quote(${quoted}), '')`
      })
      rows[name] = db
        .prepare(`select ${values.join(', ')} from "${name.replaceAll('"', '""')}"`)
        .raw()
        .all() as unknown[][]
    }
    return { schema, rows }
  } finally {
    db.close()
  }
}
