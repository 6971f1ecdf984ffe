/** Keeps the named components of an OpenAPI document; a taken name gets a number. */
import type { Schema } from './schema.ts'

type Section = 'schemas' | 'parameters' | 'requestBodies' | 'responses' | 'headers'

/** Client generators make identifiers: only ASCII letters and digits stay. */
export function pascalCase(name: string): string {
  const words = name.split(/[^A-Za-z0-9]+/).filter(word => word !== '')
  const joined = words.map(word => word.charAt(0).toUpperCase() + word.slice(1)).join('')
  if (joined === '') return 'Unnamed'
  return /^\d/.test(joined) ? `N${joined}` : joined
}

export class UniqueNames {
  readonly #owners = new Map<string, string>()

  /** `wanted`, or `wanted2`, `wanted3` and so on for another owner. */
  take(wanted: string, owner: string): string {
    for (let number = 1; ; number++) {
      const name = number === 1 ? wanted : `${wanted}${number}`
      const taken = this.#owners.get(name)
      if (taken === undefined) this.#owners.set(name, owner)
      if (taken === undefined || taken === owner) return name
    }
  }
}

export class Components {
  readonly #sections: Record<Section, Map<string, Schema>> = {
    schemas: new Map(),
    parameters: new Map(),
    requestBodies: new Map(),
    responses: new Map(),
    headers: new Map(),
  }
  readonly #names: Record<Section, UniqueNames> = {
    schemas: new UniqueNames(),
    parameters: new UniqueNames(),
    requestBodies: new UniqueNames(),
    responses: new UniqueNames(),
    headers: new UniqueNames(),
  }

  /**
   * @param owner tells components of one wanted name apart
   * @param make may refer to the component itself
   */
  refer(section: Section, wanted: string, owner: string, make: () => Schema): Schema {
    const name = this.#names[section].take(wanted, owner)
    const known = this.#sections[section]
    if (!known.has(name)) {
      known.set(name, {})
      known.set(name, make())
    }
    return { $ref: `#/components/${section}/${name}` }
  }

  follow({ $ref }: Schema): Schema {
    const [, , section, name] = String($ref).split('/')
    return this.#sections[section as Section].get(name!)!
  }

  get sections(): Schema {
    return Object.fromEntries(
      Object.entries(this.#sections)
        .filter(([, known]) => known.size > 0)
        .map(([section, known]) => [section, Object.fromEntries([...known].toSorted(([a], [b]) => (a < b ? -1 : 1)))]),
    )
  }
}
