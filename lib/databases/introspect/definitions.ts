/** Definitions: the names of the resources of tables, where the default ones do not fit. */
import type { EntitySchema } from '@mikro-orm/core'
import { ENVELOPE_KEYS } from '../../foundation/base/envelope.ts'
import { resource, type ResourceDefinition } from '../../model/resource-config.ts'
import { camelCase, camelPlural, defaultNames, isResourceName, words, type DefaultNames } from '../../model/resource-names.ts'

/** The name of a table, and its entity. */
interface NamedEntity {
  readonly table: { readonly name: string }
  readonly schema: EntitySchema | undefined
}

/** Whether the last word of a name has no English plural: it ends with a digit, or is in another script. */
function isOdd(name: string): boolean {
  return /\d$|[^\0-\x7f]/.test(words(name).at(-1) ?? '')
}

/** Formats the name of a list of a table's records. */
export function formatListName(table: string): string {
  return isOdd(table) ? camelCase(table) : camelPlural(table)
}

/** Finds the names of a table's resource. */
function findNames(table: string): DefaultNames {
  if (!isOdd(table)) return defaultNames(table)
  const own = words(table)
  return { plural: own.join('_'), singular: own.join('_'), accepted: [...new Set([own.join('_'), own.join('-'), camelCase(table)])] }
}

/** Defines resource names where the default ones do not fit: two tables with one name, or a name that is a key of answers. */
export function buildDefinitions(drafts: readonly NamedEntity[]): ResourceDefinition[] {
  const taken = new Set<string>()
  // A table with the exact name of its resource comes first.
  const isExact = ({ table }: NamedEntity): boolean => findNames(table.name).plural === table.name.toLowerCase()
  return [...drafts.filter(isExact), ...drafts.filter(draft => !isExact(draft))].flatMap(({ table, schema }) => {
    const entity = schema!
    const standard = defaultNames(entity.meta.className)
    const own = findNames(table.name)
    const isFree = (names: readonly string[]): boolean =>
      names.every(name => isResourceName(name) && !ENVELOPE_KEYS.has(name) && !taken.has(name))
    if (isFree(own.accepted) && own.plural === standard.plural && own.singular === standard.singular) {
      for (const name of own.accepted) taken.add(name)
      return []
    }
    const stem = isResourceName(own.singular) ? own.singular : 'table'
    const candidates = function* (): Generator<[string, string]> {
      if (isResourceName(own.plural)) yield [own.plural, own.singular]
      yield [`${stem}_records`, `${stem}_record`]
      for (let number = 2; ; number++) yield [`${isResourceName(own.plural) ? own.plural : 'tables'}_${number}`, `${stem}_${number}`]
    }
    for (const names of candidates()) {
      if (!isFree(names)) continue
      for (const name of names) taken.add(name)
      return [resource(entity, { name: names[0], singular: names[1] })]
    }
    return []
  })
}
