/**
 * Finds values that columns of an exact resource cannot keep, as a JSON file would: null, other types, links to no record. A JSON column
 * (the holder) keeps such values.
 */
import { isIds, shownName } from '../../model/ids-name.ts'
import type { FieldErrors } from '../../foundation/json/body-errors.ts'
import type { JsonObject } from '../../foundation/json/json.ts'
import type { Attribute, EmbeddedAttribute, Resource, ScalarAttribute } from '../../model/model.ts'
import { buildMember } from '../../model/open-attributes.ts'
import type { ValueInput } from './record-input.ts'
import { readValid } from './validate-scalar.ts'
import type { ValidationContext } from './validation-context.ts'

export function isMisfit(attribute: ScalarAttribute | EmbeddedAttribute, value: unknown, { dialect }: ValidationContext): boolean {
  if (attribute.kind !== 'scalar' || attribute.primary || attribute.source.kind !== 'column' || (value ?? null) === null) return false
  return readValid(value, attribute.type, dialect) === undefined
}

/** An exact resource tells null from a missing value; a column has null alone. */
export function markNull(holder: ScalarAttribute, attribute: Attribute, value: unknown, context: ValidationContext): readonly ValueInput[] {
  const { path } = context
  const isStored = attribute.kind === 'scalar' && attribute.source.kind === 'within'
  if (attribute.kind === 'toMany' || (isStored && value !== undefined)) return []
  if (attribute.kind === 'scalar' && isMisfit(attribute, value, context)) return [{ attribute, path, value: null }]
  return [{ attribute: buildMember(shownName(attribute), holder), path, value: value === null ? null : undefined }]
}

const OF_LINKS: ReadonlySet<string> = new Set(['reference_not_found', 'value_invalid'])

/** Names refused links for the holder to keep; undefined where validation refuses more. */
export function findHeldLinks({ open, byName }: Resource, body: JsonObject, { listed }: FieldErrors): ReadonlySet<string> | undefined {
  if (open?.exact !== true) return undefined
  const names = listed.map(({ code, attribute: name = '' }) => {
    const attribute = Object.hasOwn(body, name) ? byName.get(name) : undefined
    return attribute?.kind === 'toOne' && isIds(attribute) && OF_LINKS.has(code) ? name : undefined
  })
  return names.every(name => name !== undefined) ? new Set(names) : undefined
}
