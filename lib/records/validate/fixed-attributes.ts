/**
 * A body may repeat, but not change, a record's key and class, and the link set by the path or owner: the user in `POST /v1/users/3/posts`.
 */
import { isObject } from '../../foundation/json/json.ts'
import type { FieldError } from '../../foundation/errors/errors.ts'
import { idFromJson, isShownKey, keyFromJson, takeKeyParts, sameKey, type KeyValues } from '../../model/key.ts'
import type { Attribute, PolymorphicTarget, Resource, ToOneAttribute, ToOneOfAttribute } from '../../model/model.ts'
import { readScalar } from '../../foundation/values/scalar-type.ts'
import type { References } from './references.ts'

export interface ImpliedLink {
  readonly name: string
  /** Undefined: not known yet. */
  readonly key: KeyValues | undefined
  readonly link?: ToOneAttribute | undefined
}

interface Fixed {
  readonly code: FieldError['code']
  /** End of the sentence, after the path. */
  readonly text: string
  readonly isSame: (value: unknown) => boolean
}

interface KnownRecord {
  readonly mode: 'create' | 'update'
  readonly key?: KeyValues
  readonly implied?: ImpliedLink
}

/** Undefined where the body can set the attribute. */
export function findFixed(
  attribute: Attribute,
  resource: Resource,
  { mode, key, implied }: KnownRecord,
  references: References,
): Fixed | undefined {
  if (implied?.name === attribute.name && (attribute.kind === 'toOneOf' || attribute.kind === 'toOne')) {
    return {
      code: 'conflict',
      text: 'is given by the place of the record, and cannot be another.',
      isSame: value => isImplied(attribute, value, implied, references),
    }
  }
  if (mode === 'create') return undefined
  const { hierarchy } = resource
  if (hierarchy?.attribute === attribute.name) {
    const text = 'is the class of the record and cannot be changed.'
    return { code: 'key_fixed', text, isSame: value => String(value) === hierarchy.classValue }
  }
  if (key !== undefined && (attribute.kind === 'scalar' || attribute.kind === 'toOne') && attribute.primary) {
    return {
      code: 'key_fixed',
      text: 'is the key of the record and cannot be changed.',
      isSame: value => {
        const given = readKeyPart(attribute, value)
        return given !== undefined && sameKey(given, takeKeyParts(resource, attribute.name, key))
      },
    }
  }
  return undefined
}

function isImplied(
  attribute: ToOneAttribute | ToOneOfAttribute,
  value: unknown,
  { key, link }: ImpliedLink,
  references: References,
): boolean {
  if (key === undefined) return false
  if (attribute.kind === 'toOne') {
    const given = idFromJson(value, attribute.target)
    if (given === undefined) return false
    return isShownKey(given) ? references.isOf(attribute.target, given, key) : sameKey(given, key)
  }
  const given = parseBranchLink(attribute, value)
  return given !== undefined && given.branch.target === link?.target && sameKey(given.key, key)
}

function readKeyPart(attribute: Attribute & { kind: 'scalar' | 'toOne' }, value: unknown): KeyValues | undefined {
  if (attribute.kind === 'toOne') return keyFromJson(value, attribute.target)
  return value === null ? undefined : ([readScalar(value, attribute.type)] as KeyValues)
}

/** Takes an object with nothing but type and ID. */
export function parseBranchLink(attribute: ToOneOfAttribute, value: unknown): { branch: PolymorphicTarget; key: KeyValues } | undefined {
  if (!isObject(value)) return undefined
  const { [attribute.typeName]: type, id } = value
  const branch = attribute.branches.find(({ target }) => target.singular === type)
  const key = branch && id !== undefined ? keyFromJson(id, branch.target) : undefined
  return branch === undefined || key === undefined || Object.keys(value).length > 2 ? undefined : { branch, key }
}
