/** Generated columns: before version 18, PostgreSQL stores `virtual` columns. Readers see no difference. */
import { isRaw, raw, type MikroORM } from '@mikro-orm/core'
import type { Notes } from '../../../foundation/errors/notes.ts'

const VIRTUAL = /\bvirtual\s*$/i

const VIRTUAL_SINCE = 18

export function storeGenerated(orm: MikroORM, version: number, notes: Notes): void {
  if (version >= VIRTUAL_SINCE) return
  for (const meta of orm.getMetadata()) {
    for (const prop of meta.props) {
      const { generated } = prop as { readonly generated?: unknown }
      if (isRaw(generated) && VIRTUAL.test(generated.sql)) prop.generated = raw(generated.sql.replace(VIRTUAL, 'stored'), generated.params)
      else if (typeof generated === 'string' && VIRTUAL.test(generated)) prop.generated = generated.replace(VIRTUAL, 'stored')
      else continue
      notes.add(
        `${meta.className}.${prop.name}: the virtual column is a stored one here, since PostgreSQL ${version} has no virtual columns.`,
      )
    }
  }
}
