/**
 * Makes a body of PATCH of a JSON Patch (RFC 6902, `application/json-patch+json`): `{ "op": "add", "path": "/image/tags/-", "value": "new"
 * }` appends to a list inside the JSON attribute `image`.
 */
import { restError, type FieldErrorCode, type RestError } from '../../foundation/errors/errors.ts'
import { isObject, type JsonObject } from '../../foundation/json/json.ts'
import { runtime } from '../../foundation/runtime/runtime.ts'
import type { Limits } from '../../foundation/base/limits.ts'
import { isRelation, type Attribute, type EmbeddedAttribute, type ScalarAttribute } from '../../model/model.ts'
import { notFound, refuseHidden } from '../../records/access/resolve-path.ts'
import { retryWithRules } from '../../records/plan/visibility.ts'
import type { Reader, View } from '../../records/read/reader.ts'
import { isRendered } from '../../records/validate/model-traits.ts'
import type { RecordAddress } from '../../records/validate/written.ts'

const HAVE_VALUE = ['add', 'replace', 'test'] as const
const HAVE_FROM = ['move', 'copy'] as const
const NAMES = [...HAVE_VALUE, 'remove', ...HAVE_FROM] as const

interface PatchOperation {
  readonly op: (typeof NAMES)[number]
  /** The tokens of the JSON Pointer (RFC 6901); the first is the name of an attribute. */
  readonly path: readonly [attribute: string, ...inside: string[]]
  /** Undefined unless the operation is `move` or `copy`. */
  readonly from: PatchOperation['path'] | undefined
  readonly value: unknown
  /** `Operation 0 of the JSON Patch (add /image/tags/-)`. */
  readonly title: string
}

interface Patching {
  readonly reader: Reader
  readonly limits: Limits
  readonly view: View
}

/**
 * @param within the attribute of the path: `/tags/-` then means `/image/tags/-`
 * @throws RestError `body_invalid` for what is no JSON Patch; `version_conflict` where the record does not fit an operation
 */
export async function applyJsonPatch(
  body: unknown,
  address: RecordAddress,
  within: string | undefined,
  { reader, limits, view }: Patching,
): Promise<JsonObject> {
  const operations = readOperations(body, within, limits)
  const { resource } = address
  const before = new Map<string, unknown>()
  for (const { name, isRead, isInside, title } of operations.flatMap(listUses)) {
    const attribute = resource.byName.get(name)
    // The writer refuses an unknown name, with the nearest.
    if (attribute === undefined) return { [name]: null }
    // PATCH merges an embedded object, so the other members must be known.
    const isNeeded = isRead || isInside || attribute.kind === 'embedded'
    if (!isNeeded || before.has(name)) continue
    before.set(name, await readValue(attribute, isInside, title, address, { reader, limits, view }))
  }
  const after = applyAll(operations, Object.fromEntries(before), limits, view)
  const changed = Object.entries(after).filter(([name, value]) => !before.has(name) || !runtime.isSame(before.get(name), value))
  return Object.fromEntries(changed.map(([name, value]) => [name, memberChanges(resource.byName.get(name), before.get(name), value)]))
}

function readOperations(body: unknown, within: string | undefined, limits: Limits): readonly PatchOperation[] {
  if (!Array.isArray(body))
    throw restError('body_invalid', 'A JSON Patch is an array of operations: [{ "op": "add", "path": "/name", "value": 1 }].')
  if (body.length > limits.maxBulk) {
    const detail = `The JSON Patch has ${body.length} operations; at most ${limits.maxBulk} are allowed (limits.maxBulk).`
    throw restError('body_invalid', detail, { errors: [{ code: 'limit_exceeded', detail }] })
  }
  return body.map((operation, index) => readOperation(operation, index, within))
}

function readOperation(given: unknown, index: number, within: string | undefined): PatchOperation {
  const place = `Operation ${index} of the JSON Patch`
  if (!isObject(given)) throw refuse('value_invalid', `${index}`, `${place} must be an object.`)
  const { op, value } = given
  if (!NAMES.some(name => name === op)) throw refuse('not_allowed', `${index}.op`, `${place} has no "op" of RFC 6902.`, NAMES)
  const known = op as PatchOperation['op']
  const has = (names: readonly string[]): boolean => names.includes(known)
  if (has(HAVE_VALUE) && !Object.hasOwn(given, 'value')) throw refuse('required', `${index}.value`, `${place} has no "value".`)
  const readPointer = (name: 'path' | 'from'): PatchOperation['path'] => {
    const [attribute, ...inside] = [...(within === undefined ? [] : [within]), ...readTokens(given[name], name, index)]
    if (attribute === undefined) throw refuse('value_invalid', `${index}.${name}`, `${place} names no attribute in its "${name}".`)
    return [attribute, ...inside]
  }
  const title = `${place} (${known} ${String(given['path']).slice(0, 100)})`
  return { op: known, path: readPointer('path'), from: has(HAVE_FROM) ? readPointer('from') : undefined, value, title }
}

/** RFC 6901, section 3: `~1` is a slash, `~0` a tilde. */
function readTokens(pointer: unknown, name: string, index: number): readonly string[] {
  if (typeof pointer === 'string' && /^(?:\/(?:[^~]|~[01])*)?$/s.test(pointer))
    return pointer
      .split('/')
      .slice(1)
      .map(token => token.replaceAll('~1', '/').replaceAll('~0', '~'))
  const detail = `Operation ${index} of the JSON Patch has no JSON Pointer as its "${name}", such as "/name" (RFC 6901).`
  throw refuse('value_invalid', `${index}.${name}`, detail)
}

interface Use {
  readonly name: string
  /** The result depends on the stored value. */
  readonly isRead: boolean
  readonly isInside: boolean
  readonly title: string
}

function listUses({ op, path, from, title }: PatchOperation): readonly Use[] {
  const target = { name: path[0], isRead: op === 'test', isInside: path.length > 1, title }
  return from === undefined ? [target] : [target, { name: from[0], isRead: true, isInside: from.length > 1, title }]
}

/** Reads what the caller may see: `test` would betray other values. */
async function readValue(
  attribute: Attribute,
  isInside: boolean,
  title: string,
  { resource, key, id }: RecordAddress,
  { reader, view }: Patching,
): Promise<unknown> {
  const isOpen = attribute.kind === 'embedded' || (attribute.kind === 'scalar' && (!isInside || attribute.type.kind === 'json'))
  if (!isOpen) throw refuse('value_invalid', attribute.name, `${title} ${closedReason(attribute)}.`)
  if (isRendered(attribute)) {
    const detail = `${title} reads "${attribute.name}", whose answers show another value than is stored: send the attribute as a whole.`
    throw refuse('value_invalid', attribute.name, detail)
  }
  await retryWithRules(view.visibility, () => refuseHidden(resource, attribute, view.visibility))
  const holder = await reader.value(resource, key, attribute satisfies ScalarAttribute | EmbeddedAttribute, view)
  if (holder === undefined) throw notFound(resource, id)
  return holder[attribute.name] ?? null
}

function closedReason(attribute: Attribute): string {
  if (!isRelation(attribute)) return `leads into "${attribute.name}", which is neither JSON nor an embedded object`
  const instead =
    attribute.kind === 'toMany'
      ? `{ "${attribute.name}": { "connect": [7] } } as JSON links one record`
      : 'add, replace and remove set the link'
  return `needs the links of "${attribute.name}": ${instead}`
}

function applyAll(operations: readonly PatchOperation[], before: JsonObject, { maxBodyBytes }: Limits, { end }: View): JsonObject {
  let document = before
  let copied = 0
  for (const operation of operations) {
    end?.throwIfReached()
    const { op, path, from, title } = operation
    let { value } = operation
    if (from !== undefined) {
      value = findValue(document, from, title)
      // Thirty copies of a list into the list would make a text of gigabytes.
      if (op === 'copy') copied += JSON.stringify(value).length
      if (copied > maxBodyBytes) {
        const detail = `The JSON Patch copies more than ${maxBodyBytes} characters (limits.maxBodyBytes).`
        throw restError('body_invalid', detail, { errors: [{ code: 'limit_exceeded', detail }] })
      }
    }
    if (op === 'test') {
      if (!runtime.isSame(findValue(document, path, title), value)) throw conflict(title, 'finds another value')
    } else if (op === 'move') {
      if (from!.every((token, index) => token === path[index]) && from!.length < path.length)
        throw conflict(title, 'moves a value into the value itself')
      document = edit(edit(document, from!, { how: 'remove', value, title }), path, { how: 'add', value, title })
    } else document = edit(document, path, { how: op === 'copy' ? 'add' : op, value, title })
  }
  return document
}

function findValue(document: unknown, path: readonly string[], title: string): unknown {
  let value = document
  for (const token of path) {
    if (Array.isArray(value)) value = value[findIndex(token, value, title)]
    else if (isObject(value) && Object.hasOwn(value, token)) value = value[token]
    else throw conflict(title, `finds no "${token}"`)
  }
  return value
}

interface Edit {
  readonly how: 'add' | 'replace' | 'remove'
  readonly value: unknown
  readonly title: string
}

/** Changes an attribute; `remove` sets null. */
function edit(document: JsonObject, [name, ...inside]: PatchOperation['path'], change: Edit): JsonObject {
  const { how, value } = change
  const whole = how === 'remove' ? null : value
  return { ...document, [name]: inside.length === 0 ? whole : editInside(document[name], inside, change) }
}

/** Copies along the path. Own members alone count: `__proto__` is a name as any other. */
function editInside(holder: unknown, [token = '', ...inside]: readonly string[], change: Edit): unknown {
  const { how, value, title } = change
  const isLast = inside.length === 0
  const isAdded = isLast && how === 'add'
  const inner = (member: unknown): unknown => (isLast ? value : editInside(member, inside, change))
  if (Array.isArray(holder)) {
    const index = isAdded && token === '-' ? holder.length : findIndex(token, holder, title, isAdded)
    if (isAdded) return holder.toSpliced(index, 0, value)
    return isLast && how === 'remove' ? holder.toSpliced(index, 1) : holder.with(index, inner(holder[index]))
  }
  if (!isObject(holder)) throw conflict(title, `finds neither an object nor a list before "${token}"`)
  const members = new Map(Object.entries(holder))
  if (!isAdded && !members.has(token)) throw conflict(title, `finds no "${token}"`)
  if (isLast && how === 'remove') members.delete(token)
  else members.set(token, inner(members.get(token)))
  return Object.fromEntries(members)
}

/** @param isNew allows the place behind the last item */
function findIndex(token: string, { length }: readonly unknown[], title: string, isNew = false): number {
  const index = /^(?:0|[1-9]\d{0,14})$/.test(token) ? Number(token) : NaN
  if (index < length || (isNew && index === length)) return index
  throw conflict(title, `finds no item "${token}" in a list of ${length}`)
}

/** Gives changed members alone: PATCH merges embedded objects, and refuses read-only members. */
function memberChanges(attribute: Attribute | undefined, before: unknown, after: unknown): unknown {
  if (attribute?.kind !== 'embedded' || attribute.array || !isObject(before) || !isObject(after)) return after
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(name => !runtime.isSame(before[name], after[name]))
  return Object.fromEntries(
    names.map(name => [name, memberChanges(attribute.byName.get(name) as Attribute | undefined, before[name], after[name] ?? null)]),
  )
}

function conflict(title: string, reason: string): RestError {
  return restError('version_conflict', `${title} ${reason}: nothing has changed.`)
}

function refuse(code: FieldErrorCode, attribute: string, detail: string, allowed?: readonly string[]): RestError {
  return restError('body_invalid', detail, { errors: [{ code, attribute, detail, ...(allowed && { allowed }) }] })
}
