/** Refuses a body of the wrong kind for an attribute, such as `true` in `PUT /v1/users/1/team`, with body_invalid. */
import { restError } from '../../foundation/errors/errors.ts'
import { isObject } from '../../foundation/json/json.ts'
import type { Attribute } from '../../model/model.ts'
import { isListChange } from './list-change.ts'

export function checkAttributeBody(attribute: Attribute, body: unknown): void {
  const { kind, name } = attribute
  if (body === undefined) throw restError('body_invalid', `The body must be the JSON value of "${name}", got no body.`)
  if (kind === 'toMany' && !Array.isArray(body) && !isListChange(body)) {
    const due = `an array of IDs or objects, which replaces "${name}", or an object with "connect" and "disconnect", which changes it`
    throw restError('body_invalid', `The body must be ${due}.`)
  }
  if (kind === 'toOne' && (Array.isArray(body) || typeof body === 'boolean'))
    throw restError('body_invalid', `The body must be an ID, an object or null, which "${name}" then refers to.`)
  if (kind === 'toOneOf' && body !== null && !isObject(body))
    throw restError('body_invalid', `The body must be an object with "${attribute.typeName}", or null, which "${name}" then refers to.`)
}
