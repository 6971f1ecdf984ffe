/** Leaves records for filled tables out of a seed: each start with the same file would add the records again. */
import { chain, type Awaitable } from '../../foundation/async/awaitable.ts'
import type { Notes } from '../../foundation/errors/notes.ts'
import type { Connection } from '../database/connection.ts'
import type { Model } from '../../model/model.ts'
import type { SeedData } from '../../model/seeds.ts'

export function keepForEmpty(data: SeedData, model: Model, connection: Connection, notes: Notes): Awaitable<SeedData> {
  const names = Object.keys(data).filter(name => {
    const resource = model.byName.get(name)
    // The seed refuses unknown and read-only resources.
    return resource !== undefined && !resource.readOnly && (data[name] as readonly object[]).length > 0
  })
  if (names.length === 0) return data
  return chain(connection.countRows(names.map(name => model.byName.get(name)!.table)), counts => {
    const taken = new Map(names.flatMap((name, index) => (counts[index]! > 0 ? [[name, counts[index]!] as const] : [])))
    for (const [name, count] of taken) {
      notes.add(
        `${name}: the seed is left out, because the table has ${count === 1 ? 'a row' : `${count} rows`} already. ` +
          'A seed fills empty tables; engine.seed adds records to any.',
      )
    }
    return taken.size === 0 ? data : Object.fromEntries(Object.entries(data).filter(([name]) => !taken.has(name)))
  })
}
