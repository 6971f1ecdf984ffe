/** Definitions: names the resources of tables where the default names do not fit. */
import type { EntitySchema } from '@mikro-orm/core'
import { ENVELOPE_KEYS } from '../../foundation/http/envelope.ts'
import { resource, type ResourceDefinition } from '../../model/resource-config.ts'
import { camelCase, camelPlural, defaultNames, isResourceName, words, type DefaultNames } from '../../model/resource-names.ts'

interface NamedEntity {
  readonly table: { readonly name: string }
  readonly schema: EntitySchema | undefined
}

/** Without an English plural: the last word ends with a digit, or is in another script. */
function isOdd(name: string): boolean {
  return /\d$|[^\0-\x7f]/.test(words(name).at(-1) ?? '')
}

export function formatListName(table: string): string {
  return isOdd(table) ? camelCase(table) : camelPlural(table)
}

function findNames(table: string): DefaultNames {
  if (!isOdd(table)) return defaultNames(table)
  const parts = words(table)
  return {
    plural: parts.join('_'),
    singular: parts.join('_'),
    accepted: [...new Set([parts.join('_'), parts.join('-'), camelCase(table)])],
  }
}

/** For two tables with one name, or a name that is a key of answers. */
export function buildDefinitions(drafts: readonly NamedEntity[]): ResourceDefinition[] {
  const taken = new Set<string>()
  // A table with the exact name of its resource comes first.
  const isExact = ({ table }: NamedEntity): boolean => findNames(table.name).plural === table.name.toLowerCase()
  return [...drafts.filter(isExact), ...drafts.filter(draft => !isExact(draft))].flatMap(({ table, schema }) => {
    const entity = schema!
    const standard = defaultNames(entity.meta.className)
    const wanted = findNames(table.name)
    const isFree = (names: readonly string[]): boolean =>
      names.every(name => isResourceName(name) && !ENVELOPE_KEYS.has(name) && !taken.has(name))
    if (isFree(wanted.accepted) && wanted.plural === standard.plural && wanted.singular === standard.singular) {
      for (const name of wanted.accepted) taken.add(name)
      return []
    }
    const stem = isResourceName(wanted.singular) ? wanted.singular : 'table'
    const candidates = function* (): Generator<[string, string]> {
      if (isResourceName(wanted.plural)) yield [wanted.plural, wanted.singular]
      yield [`${stem}_records`, `${stem}_record`]
      for (let number = 2; ; number++) yield [`${isResourceName(wanted.plural) ? wanted.plural : 'tables'}_${number}`, `${stem}_${number}`]
    }
    for (const names of candidates()) {
      if (!isFree(names)) continue
      for (const name of names) taken.add(name)
      return [resource(entity, { name: names[0], singular: names[1] })]
    }
    return []
  })
}
