/** Makes bodies for the self-test, good bodies and bodies with a single mistake that the OpenAPI document refuses, too. */
import { shownName } from '../../model/ids-name.ts'
import type { DescribedOperation } from '../../description/conformity/conformity.ts'
import type { Schema } from '../../description/openapi/schema.ts'
import type { Attribute, Resource, ScalarAttribute, ToOneAttribute } from '../../model/model.ts'
import { isObject } from '../../foundation/json/json.ts'
import { fakeValues } from '../../engine/testing/fake-values.ts'
import type { Random } from '../../engine/testing/random.ts'
import type { Overrides } from '../../engine/testing/given-options.ts'
import { isDeepEqual, isPlainlyShown, type PlainRecord } from './values.ts'
import type { Subject } from './subject.ts'

export interface BodyMaker {
  readonly complete: (resource: Resource, overrides: Overrides, seed: number) => Promise<Record<string, unknown>>
  readonly listIds: (resource: Resource) => readonly (string | number)[]
  readonly isSetOnUpdate: (resource: Resource, attribute: Attribute) => boolean
  readonly now: number
}

/** IDs of existing records, or objects for new records. */
type Linking = 'ids' | 'objects'

/** Required and some optional attributes. */
export async function makeBody(maker: BodyMaker, resource: Resource, random: Random, linking: Linking): Promise<Record<string, unknown>> {
  const overrides: Record<string, unknown> = {}
  const unique = new Set([...resource.keyNames, ...resource.uniques.flat().map(path => path.split('.')[0]!)])
  for (const attribute of resource.attributes) {
    const name = shownName(attribute)
    if (attribute.readOnly || unique.has(attribute.name) || attribute.classValues !== undefined) continue
    if (attribute.kind === 'toOne' && linking === 'ids' && (attribute.needed || random.fraction() < 0.3)) {
      const id = pickLink(attribute, maker, random)
      if (id !== undefined) overrides[name] = id
    } else if (attribute.kind === 'scalar' && !attribute.needed && isChosen(attribute) && random.fraction() < 0.6) {
      const value = makeValue(attribute, resource, random, maker.now)
      if (value !== undefined) overrides[name] = value
    }
  }
  return omitFilled(await maker.complete(resource, overrides, random.between(1, 1_000_000_000)), resource)
}

function omitFilled(body: Readonly<Record<string, unknown>>, { byName }: Resource): Record<string, unknown> {
  const left = Object.entries(body).filter(([name]) => byName.get(name)?.fill === undefined)
  const omit = (attribute: Attribute | undefined, value: unknown): unknown => {
    if (attribute?.kind !== 'toOne' && attribute?.kind !== 'toMany') return value
    if (Array.isArray(value)) return value.map((member: unknown) => omit(attribute, member))
    return isObject(value) ? omitFilled(value, attribute.target) : value
  }
  return Object.fromEntries(left.map(([name, value]) => [name, omit(byName.get(name), value)]))
}

function isChosen(attribute: ScalarAttribute): boolean {
  return !attribute.hidden && !attribute.primary && !attribute.version && attribute.source.kind === 'column'
}

/** Links an existing record. A unique relation is left out: the target may be taken. */
function pickLink(attribute: ToOneAttribute, { listIds }: BodyMaker, random: Random): string | number | undefined {
  if (attribute.unique || !attribute.owner || attribute.primary || attribute.formula !== undefined) return undefined
  const ids = listIds(attribute.target)
  return ids.length === 0 ? undefined : random.pick(ids)
}

/** @param other a value to avoid */
function makeValue(attribute: ScalarAttribute, { singular }: Resource, random: Random, now: number, other?: unknown): unknown {
  for (const value of fakeValues(attribute, { random, readable: undefined, now, bearer: singular }))
    if (!isDeepEqual(value, other)) return value
  return undefined
}

export function makeChange(maker: BodyMaker, resource: Resource, record: PlainRecord, random: Random): Record<string, unknown> {
  const unique = new Set([...resource.keyNames, ...resource.uniques.flat().map(path => path.split('.')[0]!)])
  const body: Record<string, unknown> = {}
  for (const attribute of resource.attributes) {
    const name = shownName(attribute)
    if (attribute.readOnly || !isPlainlyShown(attribute) || maker.isSetOnUpdate(resource, attribute)) continue
    if (unique.has(attribute.name) || record[name] === undefined || random.fraction() < 0.4) continue
    if (attribute.kind === 'scalar' && isChosen(attribute)) {
      const value = attribute.nullable && random.fraction() < 0.1 ? null : makeValue(attribute, resource, random, maker.now, record[name])
      if (value !== undefined) body[name] = value
    } else if (attribute.kind === 'toOne') {
      const id = pickLink(attribute, maker, random)
      if (id !== undefined) body[name] = id
    }
  }
  return body
}

interface WrongBody {
  readonly body: unknown
  readonly attribute: string
  readonly mistake: string
}

export function listWrongBodies(good: Record<string, unknown>, operation: DescribedOperation, subject: Subject): WrongBody[] {
  const { resource, bodyPath } = subject
  const { document } = subject.version
  const schema = document.bodySchema(operation, bodyPath)
  if (schema === undefined || !isObject(schema['properties'])) return []
  const properties = schema['properties'] as Readonly<Record<string, Schema>>
  const wrong = Object.entries(properties).flatMap(([name, property]): WrongBody[] => {
    const attribute = resource.byName.get(name)
    if (attribute === undefined || !isJudged(attribute, resource)) return []
    return listMistakes(document.resolve(property)).map(({ value, mistake }) => ({
      body: { ...good, [name]: value },
      attribute: name,
      mistake,
    }))
  })
  for (const name of (schema['required'] ?? []) as readonly string[]) {
    const { [name]: _, ...rest } = good
    wrong.push({ body: rest, attribute: name, mistake: `without "${name}", which is required` })
  }
  if (schema['additionalProperties'] === false)
    wrong.push({ body: { ...good, no_such_name_7: 1 }, attribute: 'no_such_name_7', mistake: 'with an unknown attribute' })
  return [
    ...wrong.map(each => ({ ...each, body: subject.wrap(each.body) })).filter(({ body }) => document.checkBody(operation, body).length > 0),
    { body: 'text', attribute: '', mistake: 'that is a text' },
    { body: null, attribute: '', mistake: 'that is null' },
  ]
}

/** Only the application knows values of custom types, and of hidden attributes that a wrapper replaces (a password by its hash). */
function isJudged(attribute: Attribute, { rules }: Resource): boolean {
  if (attribute.hidden && rules.wrappers.create !== undefined) return false
  return attribute.kind !== 'scalar' || (attribute.type.kind !== 'custom' && attribute.type.loose !== true)
}

function listMistakes(schema: Schema): { readonly value: unknown; readonly mistake: string }[] {
  const length = schema['maxLength']
  return [
    { value: true, mistake: 'with true' },
    { value: 'neither-nor', mistake: 'with the string "neither-nor"' },
    { value: 1.5, mistake: 'with the number 1.5' },
    { value: null, mistake: 'with null' },
    { value: [[]], mistake: 'with a list of lists' },
    { value: { no_such_name_7: 1 }, mistake: 'with an object of an unknown attribute' },
    ...(typeof length === 'number' && length < 100_000
      ? [{ value: 'x'.repeat(length + 1), mistake: `with ${length + 1} characters` }]
      : []),
  ]
}
