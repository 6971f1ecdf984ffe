/**
 * Adds the engine's values (`AttributeRules.fill`), such as the caller as author, to new and changed records. Validation refuses a client's
 * value. Refuses with forbidden or token_missing where a new record needs a value and gets none.
 */
import { requireLogIn } from '../access/access-rules.ts'
import { wait, type Coroutine } from '../../foundation/async/awaitable.ts'
import { restError } from '../../foundation/errors/errors.ts'
import { isObject, type JsonObject } from '../../foundation/json/json.ts'
import type { HookContext } from '../../model/hook-context.ts'
import { shownName } from '../../model/ids-name.ts'
import { RequestContext } from '../request/request-context.ts'
import { isRelation, listTargets, type Attribute, type Model, type Resource } from '../../model/model.ts'
import { findAskedClass, isOfClass } from './record-class.ts'

export type FillMode = 'create' | 'update'

const FILLED = Symbol('filled')

export function isFilled(body: object, name: string): boolean {
  const names = (body as { readonly [FILLED]?: ReadonlySet<string> })[FILLED]
  return names?.has(name) === true
}

/** Marks all values as the engine's. */
export function giveBody(body: JsonObject): JsonObject {
  return { ...body, [FILLED]: new Set(Object.keys(body)) }
}

export function hasFills({ entities }: Model): boolean {
  return entities.some(({ attributes }) => attributes.some(({ fill }) => fill !== undefined))
}

export function* fillBody(body: unknown, resource: Resource, mode: FillMode, ctx: HookContext): Coroutine<unknown> {
  if (!isObject(body)) return body
  const recordClass = mode === 'create' ? findAskedClass(resource, body) : resource
  let filled = body
  for (const name of Object.keys(body)) {
    const value = body[name]
    const nested = typeof value === 'object' && value !== null ? yield* fillNested(recordClass.byName.get(name), value, ctx) : value
    if (nested !== value) filled = { ...filled, [name]: nested }
  }
  const names = new Set<string>()
  for (const attribute of recordClass.attributes) {
    const fill = attribute.fill?.[mode]
    if (
      fill === undefined ||
      !isOfClass(attribute, recordClass) ||
      body[attribute.name] !== undefined ||
      body[shownName(attribute)] !== undefined
    )
      continue
    const value = idOfCaller(yield* wait(fill(ctx, body)), attribute, ctx)
    if (value === undefined || (value === null && attribute.needed)) {
      if (mode === 'create' && attribute.needed) throw missingValue(attribute, recordClass, ctx)
      continue
    }
    filled = { ...filled, [attribute.name]: value }
    names.add(attribute.name)
  }
  return names.size === 0 ? filled : { ...filled, [FILLED]: names }
}

/** The application knows the caller by the primary key (`ctx.user.id`), clients by the option `key`. */
function idOfCaller(value: unknown, attribute: Attribute, ctx: HookContext): unknown {
  if (attribute.kind !== 'toOne' || !(ctx instanceof RequestContext)) return value
  const { shownKey, keyNames, entity } = attribute.target
  const { principal } = ctx.parts
  if (shownKey === undefined || keyNames.length > 1 || principal?.resource.entity !== entity) return value
  const { user } = principal
  return value === user[keyNames[0]!] ? (user[shownKey.name] ?? value) : value
}

function missingValue({ name }: Attribute, resource: Resource, ctx: HookContext): Error {
  requireLogIn(resource, 'create', ctx)
  return restError(
    'forbidden',
    `You may not create ${resource.plural}: each needs "${name}", which is given to it, and there is none for you.`,
  )
}

/** An object in place of a link or member is a new record. */
function* fillNested(attribute: Attribute | undefined, value: object, ctx: HookContext): Coroutine<unknown> {
  if (attribute === undefined || !(isRelation(attribute) || attribute.kind === 'toOneOf')) return value
  if (!Array.isArray(value)) return attribute.kind === 'toMany' ? value : yield* fillRecord(attribute, value, ctx)
  const members: unknown[] = []
  for (const member of value as unknown[]) members.push(yield* fillRecord(attribute, member, ctx))
  return members.every((member, index) => member === value[index]) ? value : members
}

function* fillRecord(attribute: Exclude<Attribute, { kind: 'scalar' | 'embedded' }>, value: unknown, ctx: HookContext): Coroutine<unknown> {
  if (!isObject(value)) return value
  const targets = listTargets(attribute)
  if (attribute.kind !== 'toOneOf') return yield* fillBody(value, targets[0]!, 'create', ctx)
  const target = targets.find(({ singular }) => value[attribute.typeName] === singular)
  return target === undefined ? value : yield* fillBody(value, target, 'create', ctx)
}
