/**
 * Finds missing attributes of a new record or embedded object. Refuses with forbidden where a missing link leads to a hidden resource: an
 * error would reveal the resource.
 */
import { References } from './references.ts'
import { shownName } from '../../model/ids-name.ts'
import { FieldErrors } from '../../foundation/json/body-errors.ts'
import { restError, type FieldError } from '../../foundation/errors/errors.ts'
import type { JsonObject } from '../../foundation/json/json.ts'
import type { Attribute, EmbeddedAttribute } from '../../model/model.ts'
import { hasVisibleTarget, type Visibility } from '../plan/visibility.ts'
import { ValidationContext, joinPath } from './validation-context.ts'
import type { LinkInput, RecordInput, ValueInput } from './record-input.ts'
import type { Entity } from '../../model/entity-key.ts'

interface NewObject {
  readonly attributes: readonly Attribute[]
  /** Attributes set by the place of the record. */
  readonly filled?: readonly (string | undefined)[]
  readonly action: string
}

export function requireAttributes(given: JsonObject, { attributes, filled = [], action }: NewObject, context: ValidationContext): void {
  const missing: Attribute[] = []
  for (const attribute of attributes) {
    if (!attribute.required) continue
    const name = shownName(attribute)
    if (isGiven(given, name) || (name !== attribute.name && isGiven(given, attribute.name))) continue
    if (filled.includes(attribute.name)) continue
    // In a seed, the record on the other side may set the link.
    if (context.seeding && attribute.kind === 'toOne' && !attribute.owner) continue
    context.errors.describe(() => {
      const path = joinPath(context.path, name)
      return { code: 'required', detail: `"${path}" must be given.`, attribute: path }
    })
    missing.push(attribute)
  }
  if (missing.length === 0) return
  const { visibility } = context
  if (missing.every(attribute => hasVisibleTarget(attribute, visibility))) return
  throw restError('forbidden', `You may not ${action}: a link that is needed leads to what you may not see.`)
}

function isGiven(given: JsonObject, name: string): boolean {
  return Object.hasOwn(given, name) && given[name] !== undefined
}

/** The check asks for presence, not for values. */
const TAKES_ALL = { describeUnstorable: () => undefined }

/** For an object set where null was before. */
function requireEmbedded(
  attribute: EmbeddedAttribute,
  changes: readonly ValueInput[],
  links: readonly LinkInput[],
  path: string,
  visibility: Visibility,
): readonly FieldError[] {
  const linksInside = links.filter(link => link.path === joinPath(path, link.attribute.name))
  const given = Object.fromEntries([
    ...changes.map(change => [change.attribute.name, change.value]),
    ...linksInside.map(link => [link.attribute.name, link.link]),
  ]) as JsonObject
  const rules = { dialect: TAKES_ALL, visibility, references: new References() }
  const context = new ValidationContext(new FieldErrors(undefined, Infinity), rules, path)
  requireAttributes(given, { attributes: attribute.attributes, action: `set "${path}"` }, context)
  return context.errors.listed
}

interface NewEmbedded {
  readonly attribute: EmbeddedAttribute
  readonly path: string
  readonly value: readonly ValueInput[]
}

function* findNewEmbedded(holder: Entity, changes: readonly ValueInput[]): Generator<NewEmbedded> {
  for (const { attribute, path, value } of changes) {
    // A body gives lists and objects of several classes whole.
    if (attribute.kind !== 'embedded' || value === null || attribute.array || attribute.variants !== undefined) continue
    const current = holder[attribute.property] ?? null
    const inner = value as readonly ValueInput[]
    if (current === null) yield { attribute, path, value: inner }
    yield* findNewEmbedded((current ?? {}) as Entity, inner)
  }
}

/** For changes that replace null by an object. */
export function requireNewEmbedded(entity: Entity, change: RecordInput, visibility: Visibility): readonly FieldError[] {
  return [...findNewEmbedded(entity, change.values)].flatMap(({ attribute, path, value }) =>
    requireEmbedded(attribute, value, change.links, path, visibility),
  )
}
