/**
 * Components: the parts of a document that have a name. Each is made once, when it is first referred to; a name that is taken gets a
 * number.
 */
import type { Schema } from './schema.ts'

type Section = 'schemas' | 'parameters' | 'requestBodies' | 'responses' | 'headers'

/** Returns a name in PascalCase, of ASCII letters and digits: generators make identifiers of it. */
export function pascalCase(name: string): string {
  const words = name.split(/[^A-Za-z0-9]+/).filter(word => word !== '')
  const joined = words.map(word => word.charAt(0).toUpperCase() + word.slice(1)).join('')
  if (joined === '') return 'Unnamed'
  return /^\d/.test(joined) ? `N${joined}` : joined
}

/** Names that nobody else has. */
export class UniqueNames {
  readonly #owners = new Map<string, string>()

  /** Returns the name, or the first free one with a number behind it. The same owner gets the same name again. */
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
   * Returns a reference to a component.
   *
   * @param owner identifies what the component describes
   * @param make makes it when it is first referred to; what it refers to may refer back
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

  /** Returns the component that a reference is to. */
  follow({ $ref }: Schema): Schema {
    const [, , section, name] = String($ref).split('/')
    return this.#sections[section as Section].get(name!)!
  }

  /** All components, by section and name, in the order of their names. */
  get sections(): Schema {
    return Object.fromEntries(
      Object.entries(this.#sections)
        .filter(([, known]) => known.size > 0)
        .map(([section, known]) => [section, Object.fromEntries([...known].toSorted(([a], [b]) => (a < b ? -1 : 1)))]),
    )
  }
}
