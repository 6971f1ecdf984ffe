/**
 * Sibling columns: classes of one table that have one property name each with a type or a column of its own. MikroORM lists a column twice
 * where siblings share it, and does not know the column of every class, so that its inserts fail or lose the value.
 */
import type { EntityMetadata, EntityProperty } from '@mikro-orm/core'

/** The columns that MikroORM keeps at the property of the root. */
interface SiblingColumns {
  stiFieldNames?: string[]
  stiFieldNameMap?: Record<string, string>
}

/** Lists each column of such a property once, with the column of each class; without more than one column there is nothing to choose. */
export function correctSiblingColumns(metadata: Iterable<EntityMetadata>): void {
  const all = [...metadata]
  for (const root of all) {
    for (const prop of root.props as (EntityProperty & SiblingColumns)[]) {
      if (prop.stiFieldNames === undefined) continue
      const columns = [...new Set(prop.stiFieldNames)]
      if (columns.length === 1) {
        delete prop.stiFieldNames
        delete prop.stiFieldNameMap
        continue
      }
      prop.stiFieldNames = columns
      prop.stiFieldNameMap = Object.fromEntries(
        Object.entries(root.discriminatorMap as Record<string, unknown>).flatMap(([value, entity]) => {
          const member = all.find(meta => meta.class === entity)
          const column = member?.properties[prop.name]?.fieldNames?.[0]
          return column === undefined ? [] : [[value, column]]
        }),
      )
    }
  }
}
