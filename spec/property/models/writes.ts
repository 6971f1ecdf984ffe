/** Random writes, to an engine and to the oracle's rows: after each of them everything that is read is the same. */
import assert from 'node:assert/strict'
import { idOf, ordered, render, toJson } from '../../helpers/oracle.ts'
import type { EmbeddedValue, Json, PlainAttribute, Row, Value } from '../../helpers/oracle.ts'
import type { Model, Node, Random } from './build.ts'
import { bodyOf, kindOf } from './kinds.ts'
import { type Asking, pathOf, same } from './laws.ts'

type Body = Record<string, Json>
type Step = (asking: Asking, random: Random) => Promise<string | undefined>

const concrete = (model: Model): Node[] => model.nodes.filter(({ key }) => key !== 'view')
const anyRow = (model: Model, random: Random): Row | undefined =>
  random.pick(concrete(model).flatMap(node => (node.parent === undefined ? [...model.world[node.resource.name]!] : [])))
/** The path of a record, through its own class or one above. */
const anyPath = (model: Model, row: Row, random: Random): string => pathOf(row, random.pick(model.lineage(model.nodeOf(row))))

/** What the rows hold, the engine shows. */
export async function agree(asking: Asking, told: string): Promise<void> {
  await asking.takeVersions()
  for (const node of asking.model.nodes) {
    if (node.parent !== undefined) continue
    const isVirtual = node.resource.name.endsWith('_sums')
    const records = await asking.list(node, { depth: '1', ...(isVirtual ? { sort: 'key' } : {}) })
    same(
      records,
      ordered(asking.model.world[node.resource.name]!).map(row => render(row, {})),
      `${node.resource.name} after ${told}`,
    )
  }
}

async function done(asking: Asking, method: string, path: string, body: unknown, row: Row): Promise<void> {
  const answer = await asking.send(method, path, {}, body)
  assert.equal(answer.status, 200, `${method} ${path} ${JSON.stringify(body)} answered ${JSON.stringify(answer.body)}`)
  if (method === 'DELETE') return
  if ('version' in row.values) row.values['version'] = Number((answer.body[answer.body['resource'] as string] as Body)['version'])
  same(answer.body[answer.body['resource'] as string], render(row, {}), `${method} ${path} ${JSON.stringify(body)}`)
}

const create: Step = async (asking, random) => {
  const { model } = asking
  const node = random.pick(concrete(model))!
  const row = model.draw(node, random)
  if (row === undefined) return undefined
  const body = { ...model.body(row) }
  for (const [name, value] of Object.entries(body)) if (value === null && random.chance(2)) delete body[name]
  if (node.root.defaulted && random.chance(2)) {
    delete body['fallback']
    row.values['fallback'] = 7
  }
  model.rows.get(node.root)!.push(row)
  await done(asking, 'POST', `/v1/${node.resource.name}`, body, row)
  return `POST ${node.resource.name} ${JSON.stringify(body)}`
}

/** What a change gives of an attribute; the row has the new value then. */
function changeOf(model: Model, row: Row, name: string, random: Random): Json | undefined {
  const node = model.nodeOf(row)
  const attribute = row.of.attributes[name]!
  const field = model.fieldsOf(node).find(each => each.name === name)
  if (field !== undefined) {
    const value = model.valueOf(field, random)
    const old = row.values[name] as Value
    if (kindOf(field.kind).merges !== true || value === null || old === null || attribute.kind !== 'embedded') {
      row.values[name] = value
      return bodyOf(attribute, value)
    }
    const given = Object.fromEntries(Object.entries(value as EmbeddedValue).filter(() => !random.chance(3)))
    row.values[name] = { ...(old as EmbeddedValue), ...given }
    return bodyOf(attribute, given)
  }
  const relation = model.onesOf(node).find(each => each.name === name)
  if (relation !== undefined) {
    if (row.of.key.includes(name)) return undefined
    const target = model.target(row, relation, random)
    if (target === undefined) return undefined
    row.values[name] = target
    return target === null ? null : idOf(target)
  }
  const list = model.listsOf(node).find(each => each.name === name)
  if (list !== undefined && list.link === undefined) {
    const chosen = random.some(model.world[list.target.resource.name]!, 3)
    row.values[name] = chosen
    return chosen.map(idOf)
  }
  if (name === 'fallback' || name === 'base' || name === 'weight') {
    row.values[name] = random.below(5)
    return toJson(attribute as PlainAttribute, row.values[name])
  }
  return undefined
}

const update: Step = async (asking, random) => {
  const { model } = asking
  const row = anyRow(model, random)
  if (row === undefined) return undefined
  const path = anyPath(model, row, random)
  const body: Body = {}
  for (const name of random.some(Object.keys(row.of.attributes), 5)) {
    const given = changeOf(model, row, name, random)
    if (given !== undefined) body[name] = given
  }
  await done(asking, random.chance(2) ? 'PUT' : 'PATCH', path, body, row)
  return `PUT ${path} ${JSON.stringify(body)}`
}

const updateAttribute: Step = async (asking, random) => {
  const { model } = asking
  const row = anyRow(model, random)
  const name = row && random.pick(Object.keys(row.of.attributes))
  if (row === undefined || name === undefined) return undefined
  const path = `${anyPath(model, row, random)}/${name}`
  const given = changeOf(model, row, name, random)
  if (given === undefined) return undefined
  await done(asking, 'PUT', path, given, row)
  return `PUT ${path} ${JSON.stringify(given)}`
}

const remove: Step = async (asking, random) => {
  const { model } = asking
  const row = anyRow(model, random)
  if (row === undefined) return undefined
  const path = anyPath(model, row, random)
  const referrers = concrete(model).flatMap(node =>
    node.ones.flatMap(({ name, holds }) =>
      model.world[node.resource.name]!.flatMap(other => (other !== row && other.values[name] === row ? [{ other, holds }] : [])),
    ),
  )
  const holding = referrers.filter(({ holds }) => holds)
  const answer = await asking.send('DELETE', path)
  const told = `DELETE ${path} answered ${JSON.stringify(answer.body)}`
  if (answer.status === 409) {
    assert.ok(holding.length > 0, told)
    return told
  }
  assert.equal(answer.status, 200, told)
  // What has the record in its key goes with it.
  const gone = new Set([row])
  for (const each of gone) {
    for (const other of [...model.rows.values()].flat()) {
      if (model.onesOf(model.nodeOf(other)).some(({ name }) => other.of.key.includes(name) && other.values[name] === each)) gone.add(other)
    }
  }
  assert.ok(
    holding.every(({ other }) => gone.has(other)),
    told,
  )
  for (const other of [...model.rows.values()].flat()) {
    for (const { name, nullable } of model.onesOf(model.nodeOf(other))) {
      if (gone.has(other.values[name] as Row) && nullable && !other.of.key.includes(name)) other.values[name] = null
    }
  }
  for (const rows of model.rows.values()) {
    rows.splice(0, rows.length, ...rows.filter(other => !gone.has(other)))
    for (const other of rows) {
      for (const { name, link } of model.listsOf(model.nodeOf(other))) {
        if (link === undefined) other.values[name] = (other.values[name] as Row[]).filter(each => !gone.has(each))
      }
    }
  }
  return told
}

const refused: Step = async (asking, random) => {
  const { model } = asking
  const row = anyRow(model, random)
  if (row === undefined) return undefined
  const path = pathOf(row)
  const expect = async (method: string, at: string, body: unknown, ...statuses: number[]): Promise<void> => {
    const { status, body: answer } = await asking.send(method, at, {}, body)
    assert.ok(statuses.includes(status), `${method} ${at} ${JSON.stringify(body)} answered ${JSON.stringify(answer)}`)
  }
  await expect('PUT', path, { nope: 1 }, 422)
  await expect('POST', `/v1/${row.of.name}`, model.body(row), 409, 422)
  await expect('PUT', path, [], 400)
  await expect('POST', path, {}, 405)
  if (model.nodeOf(row).root.versioned) await expect('PUT', path, { version: 99 }, 409)
  for (const { name, nullable } of model.fieldsOf(model.nodeOf(row))) if (!nullable) await expect('PUT', path, { [name]: null }, 422)
  return 'what is refused'
}

const STEPS: readonly Step[] = [create, create, update, update, updateAttribute, remove, refused]

export async function writes(asking: Asking, random: Random, count = 8): Promise<void> {
  for (let step = 0; step < count; step++) {
    const told = await random.pick(STEPS)!(asking, random)
    if (told !== undefined) await agree(asking, told)
  }
}

/** OPTIONS tells which methods a path takes, and the path takes them. */
export async function allows(asking: Asking): Promise<void> {
  const { model } = asking
  for (const node of model.nodes) {
    const path = `/v1/${node.resource.name}`
    const { status, headers } = await asking.send('OPTIONS', path)
    assert.equal(status, 204)
    assert.equal(headers['allow'], node.readOnly ? 'GET, HEAD, QUERY, OPTIONS' : 'GET, HEAD, QUERY, POST, OPTIONS', path)
    if (node.readOnly) assert.equal((await asking.send('POST', path, {}, {})).status, 405)
    const [row] = model.world[node.resource.name]!
    if (row === undefined || node.readOnly) continue
    const one = await asking.send('OPTIONS', pathOf(row, node))
    assert.equal(one.headers['allow'], 'GET, HEAD, QUERY, PUT, PATCH, DELETE, OPTIONS')
    for (const [name, attribute] of Object.entries(row.of.attributes)) {
      const { headers: of } = await asking.send('OPTIONS', `${pathOf(row, node)}/${name}`)
      const methods = of['allow']!.split(', ')
      assert.equal(methods.includes('POST'), attribute.kind === 'many', `${path} ${name}`)
      assert.equal(methods.includes('DELETE'), attribute.kind === 'many' || attribute.kind === 'one', `${path} ${name}`)
    }
  }
}
