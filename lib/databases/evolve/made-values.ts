/** Made values: a value of a property for a row that has none, from those that are made up for its type. */
import type { Evolving } from '../../records/database/evolving.ts'
import { defaultNames } from '../../model/resource-names.ts'
import type { EvolvedColumn } from './request.ts'

/**
 * @param taken the stored values that must not come again; undefined where they may
 * @returns undefined where no value fits, and for links: what they refer to is not made up
 */
export function makeValue(
  column: EvolvedColumn | undefined,
  make: Evolving['make'],
  row: number,
  taken?: ReadonlySet<unknown>,
): { readonly json: unknown; readonly stored: unknown } | undefined {
  if (column?.type === undefined || column.prop.kind !== 'scalar') return undefined
  const { meta, prop, type } = column
  for (const json of make({ name: prop.name, resource: defaultNames(meta.className).singular, type }, row)) {
    const stored = column.store(json)
    if (stored !== undefined && stored !== null && taken?.has(stored) !== true) return { json, stored }
  }
  return undefined
}
