/**
 * Asks the application's schemas (`AttributeRules.schema`) about values of the right type. Runs before hashing and the transaction, since
 * schemas may be slow. Validation adds the refusals to other errors.
 */
import { wait, type Awaitable, type Coroutine } from '../../foundation/async/awaitable.ts'
import { isObject, type JsonObject } from '../../foundation/json/json.ts'
import type { HookContext } from '../../model/hook-context.ts'
import { isRelation, type Attribute, type Model, type Resource } from '../../model/model.ts'
import type { SchemaIssue, ValueSchema } from '../../model/resource-config.ts'
import type { ReadingConnection } from '../database/connection.ts'
import { findAskedClass } from './record-class.ts'
import { readValid } from './validate-scalar.ts'
import type { ValidationContext } from './validation-context.ts'

/** `below`: a dotted path inside the value, or empty. */
interface Issue {
  readonly below: string
  readonly message: string
}

type IssuesByName = ReadonlyMap<string, readonly Issue[]>

/** Symbols cannot come from clients: JSON has none. */
const ISSUES = Symbol('issues')

/** Longest message passed on, in characters. */
const MAX_MESSAGE = 500

export function hasSchemas({ entities }: Model): boolean {
  return entities.some(({ attributes }) => attributes.some(({ schema }) => schema !== undefined))
}

export function hasIssues(body: object): boolean {
  return (body as { readonly [ISSUES]?: IssuesByName })[ISSUES] !== undefined
}

export function addIssues(body: object, name: string, place: ValidationContext): void {
  for (const { below, message } of (body as { readonly [ISSUES]?: IssuesByName })[ISSUES]?.get(name) ?? []) {
    const path = below === '' ? place.path : `${place.path}.${below}`
    place.errors.push({ code: 'schema_refused', detail: `"${path}": ${message}`, attribute: path })
  }
}

export function* checkSchemas(
  body: unknown,
  resource: Resource,
  ctx: HookContext,
  dialect: ReadingConnection['dialect'],
): Coroutine<unknown> {
  if (Array.isArray(body)) {
    const checked: unknown[] = []
    for (const member of body as unknown[]) checked.push(yield* checkSchemas(member, resource, ctx, dialect))
    return checked.every((member, index) => member === body[index]) ? body : checked
  }
  if (!isObject(body)) return body
  const { byName } = findAskedClass(resource, body)
  const issues = new Map<string, readonly Issue[]>()
  let checked: JsonObject = body
  for (const name of Object.keys(body)) {
    const attribute = byName.get(name)
    const value = body[name]
    if (attribute === undefined || (value ?? null) === null) continue
    if (attribute.schema !== undefined && !attribute.readOnly && isOfType(attribute, value, dialect)) {
      const found = yield* wait(askSchema(attribute.schema, value, ctx))
      if (found.length > 0) issues.set(name, found)
    }
    const nested = isRelation(attribute) && typeof value === 'object' ? yield* checkSchemas(value, attribute.target, ctx, dialect) : value
    if (nested !== value) checked = { ...checked, [name]: nested }
  }
  return issues.size === 0 ? checked : { ...checked, [ISSUES]: issues }
}

function isOfType(attribute: Attribute, value: unknown, dialect: ReadingConnection['dialect']): boolean {
  if (attribute.kind === 'scalar') return readValid(value, attribute.type, dialect) !== undefined
  return attribute.kind === 'embedded' && typeof value === 'object' && Array.isArray(value) === attribute.array
}

function askSchema(schema: ValueSchema, value: unknown, ctx: HookContext): Awaitable<readonly Issue[]> {
  const answer: unknown = '~standard' in schema ? schema['~standard'].validate(value) : schema(value, ctx)
  return answer instanceof Promise ? answer.then(readAnswer) : readAnswer(answer)
}

function readAnswer(answer: unknown): readonly Issue[] {
  if (answer === true) return []
  if (!isObject(answer)) return [{ below: '', message: typeof answer === 'string' && answer !== '' ? shorten(answer) : 'is refused.' }]
  const { issues = [] } = answer as { readonly issues?: readonly SchemaIssue[] }
  return issues.map(({ message, path = [] }) => ({
    below: path.map(step => String(typeof step === 'object' ? step.key : step)).join('.'),
    message: shorten(message),
  }))
}

function shorten(message: string): string {
  return message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE)}…` : message
}
