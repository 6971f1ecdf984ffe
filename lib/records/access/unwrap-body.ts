/**
 * Unwraps bodies, if the option `envelope` wraps answers: `{ "article": { "title": "Hello" } }`. Refuses, with body_invalid, plain records
 * easily taken for wrapped.
 */
import { restError } from '../../foundation/errors/errors.ts'
import type { CompiledTemplate } from '../../foundation/http/envelope-template.ts'
import { FormBody, type FormField } from '../../foundation/http/form-body.ts'
import { isObject } from '../../foundation/json/json.ts'
import type { Tree } from '../../foundation/http/template-tree.ts'
import type { ScalarKind } from '../../foundation/values/scalar-type.ts'
import type { Resource } from '../../model/model.ts'
import type { Target } from './resolve-path.ts'

export function findBodyResource(method: string, target: Target): Resource | undefined {
  if (target.kind === 'collection' || target.kind === 'record') return target.resource
  if (target.kind !== 'attribute') return undefined
  const { attribute } = target
  return attribute.kind === 'toOne' || (attribute.kind === 'toMany' && method === 'POST') ? attribute.target : undefined
}

export function unwrapBody(body: unknown, resource: Resource, template: CompiledTemplate): unknown {
  const isForm = body instanceof FormBody
  if (template.isBare || !(isForm || isObject(body))) return body
  const tree = template.named(resource)
  const inner = isForm ? findFields(body.fields, tree) : findObject(body, tree)
  if (inner !== undefined) return isForm ? new FormBody(inner as ReadonlyMap<string, FormField>) : inner
  const [key = ''] = template.pathOf('record', resource) ?? []
  const attribute = resource.byName.get(key)
  const takesObjects = attribute !== undefined && !(attribute.kind === 'scalar' && PLAIN.has(attribute.type.kind))
  if (takesObjects) throw ambiguous(resource, key)
  return body
}

/** The record's place must have an object. */
function findObject(body: unknown, tree: Tree): unknown {
  if (!isObject(body)) return undefined
  const [key, part] = findRecord(Object.keys(body), tree) ?? []
  if (key === undefined) return undefined
  const inside = body[key]
  return typeof part === 'string' ? (isObject(inside) ? inside : undefined) : findObject(inside, part!)
}

function findFields(fields: ReadonlyMap<string, FormField>, tree: Tree): ReadonlyMap<string, FormField> | undefined {
  const [key, part] = findRecord([...fields.keys()], tree) ?? []
  if (key === undefined) return undefined
  const { members } = fields.get(key)!
  if (members.size === 0) return undefined
  return typeof part === 'string' ? members : findFields(members, part!)
}

/** Undefined for other keys than the template's. */
function findRecord(keys: readonly string[], tree: Tree): Tree[number] | undefined {
  if (!keys.every(key => tree.some(([known]) => known === key))) return undefined
  return tree.find(([key, part]) => keys.includes(key) && leadsToRecord(part))
}

function leadsToRecord(part: Tree[number][1]): boolean {
  return part === 'record' || (typeof part !== 'string' && part.some(([, inner]) => leadsToRecord(inner)))
}

/** Kinds of values other than objects. */
const PLAIN: ReadonlySet<ScalarKind> = new Set([
  'integer',
  'bigint',
  'float',
  'decimal',
  'text',
  'boolean',
  'datetime',
  'date',
  'time',
  'uuid',
  'blob',
  'array',
])

function ambiguous({ plural }: Resource, key: string) {
  return restError(
    'body_invalid',
    `Bodies of ${plural} must be wrapped, { ${JSON.stringify(key)}: { ... } }, since "${key}" is an attribute of theirs, too.`,
  )
}
