/**
 * Note secrets: notes shown attributes that look like secrets, of a JSON file or a database without a model, and the way to hide an
 * attribute.
 */
import type { Notes } from '../../foundation/errors/notes.ts'
import type { ScalarKind } from '../../foundation/values/scalar-type.ts'
import type { Model, Resource } from '../../model/model.ts'
import type { ResourceDefinition } from '../../model/resource-config.ts'
import { words } from '../../model/resource-names.ts'

/** The end of a name, in words: `password`, `reset_token`, `api_key`, `session_data`, `password_hash`. */
const SECRET =
  /(?:^|_)(?:(?:pass(?:word|wd|phrase|code)|pwd|secret|token|session|credential|api_?key)s?|(?:private|secret|access|signing|encryption)_key)(?:_?(?:hash|digest|salt|id|key|data|value|encrypted))?$/

/** `token_count` is a number, `password_changed` a time. */
const KINDS: ReadonlySet<ScalarKind> = new Set<ScalarKind>(['text', 'blob', 'uuid', 'json', 'any'])

const MOST_NAMED = 10

/** `private: false` in a definition means that an attribute is to be shown. */
export function noteSecrets(versions: Iterable<{ readonly model: Model }>, definitions: readonly ResourceDefinition[], notes: Notes): void {
  const meant = new Set(
    definitions.flatMap(({ entity, config }) =>
      Object.entries(config.attributes ?? {}).flatMap(([property, rules]) => (rules?.private === false ? [keyOf(entity, property)] : [])),
    ),
  )
  const found = new Map<string, SecretPair>()
  for (const { model } of versions)
    for (const pair of model.resources.flatMap(listSecrets))
      if (!meant.has(keyOf(pair.resource.className, pair.property))) found.set(`${pair.resource.plural}.${pair.name}`, pair)
  const [first] = found.values()
  if (first === undefined) return
  const names = [...found.keys()]
  const others = names.length > MOST_NAMED ? `, and ${names.length - MOST_NAMED} more` : ''
  const [looks, hide] = names.length === 1 ? ['looks like a secret, and is', 'hide it'] : ['look like secrets, and are', 'hide each']
  const rule = `resource(${JSON.stringify(first.resource.plural)}, { attributes: { ${formatKey(first.property)}: { private: true } } })`
  notes.add(`${names.slice(0, MOST_NAMED).join(', ')}${others} ${looks} shown: ${hide} with --hide ${names[0]}, in code with ${rule}.`)
}

interface SecretPair {
  readonly resource: Resource
  readonly property: string
  readonly name: string
}

function listSecrets(resource: Resource): SecretPair[] {
  const { access } = resource.rules
  if (access.get === false && access.list === false) return []
  return resource.attributes.flatMap(attribute => {
    const { name, property, hidden } = attribute
    const isShown = attribute.kind === 'scalar' && !hidden && attribute.render === undefined && attribute.source.kind !== 'formula'
    return isShown && KINDS.has(attribute.type.kind) && SECRET.test(words(name).join('_')) ? [{ resource, property, name }] : []
  })
}

function keyOf(entity: ResourceDefinition['entity'], property: string): string {
  const { name, meta } = entity as { readonly name?: string; readonly meta?: { readonly className?: string } }
  return `${typeof entity === 'string' ? entity : (meta?.className ?? name)}.${property}`
}

function formatKey(property: string): string {
  return /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(property) ? property : JSON.stringify(property)
}
