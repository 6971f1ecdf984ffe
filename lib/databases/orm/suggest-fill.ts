/** Suggests options where a table lacks parts of an entity, for texts of errors and notes. */
import type { MikroORM } from '@mikro-orm/core'
import { defaultNames } from '../../model/resource-names.ts'

/** `{ note: { stars: ... } } (--fill note.stars=...)` */
export function suggestFill(orm: MikroORM, table: string, column: string): string {
  const meta = [...orm.getMetadata()].find(({ tableName, pivotTable }) => tableName === table && pivotTable !== true)
  const prop = meta?.props.find(({ fieldNames }) => fieldNames?.includes(column))
  const resource = meta === undefined ? table : defaultNames(meta.className).singular
  const property = prop?.name ?? column
  return `{ ${resource}: { ${property}: ... } } (--fill ${resource}.${property}=...)`
}

export const SCHEMA_WAYS = " schema: 'update' makes what is missing; 'evolve' (--evolve) makes tables fit, too, with their rows."
