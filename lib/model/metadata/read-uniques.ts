/** Lists sets of properties unique together, without the key: `[['email'], ['org', 'name']]`. */
import type { EntityMetadata } from '@mikro-orm/core'

export function readUniques(meta: EntityMetadata): string[][] {
  const single = meta.props
    .filter(prop => prop.unique !== undefined && prop.unique !== false && prop.primary !== true)
    .map(prop => [prop.name])
  const several = meta.uniques.flatMap(unique => {
    if (unique.properties === undefined) return []
    return [Array.isArray(unique.properties) ? unique.properties : [unique.properties]]
  })
  const key = meta.primaryKeys.join()
  return [...single, ...several].filter(names => names.join() !== key)
}
