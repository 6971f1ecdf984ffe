/** Name property: what a column is called where the application speaks of it, for messages: its resource, and its property. */
import type { MikroORM } from '@mikro-orm/core'
import { defaultNames } from '../../model/resource-names.ts'

/** Returns what `fill` says of a column: `{ note: { stars: ... } }`. */
export function exampleFill(orm: MikroORM, table: string, column: string): string {
  const meta = [...orm.getMetadata()].find(({ tableName, pivotTable }) => tableName === table && pivotTable !== true)
  const prop = meta?.props.find(({ fieldNames }) => fieldNames?.includes(column))
  const resource = meta === undefined ? table : defaultNames(meta.className).singular
  return `{ ${resource}: { ${prop?.name ?? column}: ... } }`
}

/** How a database that is kept as it is gets what it lacks. */
export const WAYS = " schema: 'update' makes what is missing; 'evolve' (--evolve) makes tables fit, too, with their rows."
