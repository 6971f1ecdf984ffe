/**
 * JSON files: any data comes out as it went in, and a saved file is the old text with nothing but the changes in it. Compared with a model
 * that is a plain JavaScript object.
 */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { after, before, it } from 'node:test'
import { parseKept, parseLong } from '../../lib/foundation/json/json-numbers.ts'
import { EditedText } from '../../lib/doors/cli/json-edit.ts'
import { readJsonFile } from '../../lib/doors/cli/json-file.ts'
import { Saver } from '../../lib/doors/cli/save.ts'
import { buildModel } from '../../lib/model/json-model/from-json.ts'
import type { InferredAttribute } from '../../lib/model/json-model/infer-model.ts'
import { fromJson } from '../../lib/index.ts'
import type { RestEngine } from '../../lib/index.ts'
import { check } from '../helpers/check.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'

type Json = Record<string, unknown>

// Numbers for names would be put first by JavaScript, and `__proto__` is refused.
const keyArb = fc
  .oneof(fc.constantFrom('name', 'userId', 'tag_ids', 'note', 'a b', 'toString', 'A', 'a'), fc.string({ unit: 'grapheme', maxLength: 6 }))
  .filter(key => !/^\d+$/.test(key) && key !== '__proto__' && key !== 'id' && key.isWellFormed())
const valueArb = fc.oneof(
  fc.integer({ min: 1, max: 3 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(value => value + 0),
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.boolean(),
  fc.constant(null),
  fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 3 }),
  (fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<unknown>).map(value => JSON.parse(JSON.stringify(value)) as unknown),
)
/** Keys that look like relations mostly are some: their values are IDs that most collections have. */
const relationArbs: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  userId: fc.oneof({ weight: 5, arbitrary: fc.integer({ min: 1, max: 3 }) }, { weight: 1, arbitrary: fc.constantFrom(null, 4) }),
  tag_ids: fc.uniqueArray(fc.integer({ min: 1, max: 3 }), { maxLength: 3 }),
}
const kinds: readonly fc.Arbitrary<unknown>[] = [valueArb, fc.integer({ min: 1, max: 3 }), fc.string({ maxLength: 5 }), fc.boolean()]
const idsArb = (max: number): fc.Arbitrary<number[]> =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constant<number[]>([3, 1, 2]) },
    { weight: 1, arbitrary: fc.uniqueArray(fc.integer({ min: 1, max: 9 }), { maxLength: max }) },
  )
const recordsArb = (max: number): fc.Arbitrary<Json[]> =>
  fc
    .tuple(
      fc.uniqueArray(fc.oneof(fc.constantFrom('userId', 'tag_ids'), keyArb), { maxLength: 5 }),
      idsArb(max),
      fc.integer({ min: 0, max: 4 }),
      fc.array(fc.nat(kinds.length - 1), { minLength: 5, maxLength: 5 }),
    )
    .chain(([keys, ids, text, picks]) => {
      const members = Object.fromEntries(
        keys.map((key, index) => [key, Object.hasOwn(relationArbs, key) ? relationArbs[key]! : kinds[picks[index]!]!]),
      )
      const fields = fc.record(members, { requiredKeys: [], noNullPrototype: true }) as fc.Arbitrary<Json>
      return fc.tuple(...ids.map(id => fields.map(record => ({ id: text === 0 ? `i${id}` : id, ...record }))))
    })
const dataArb = fc.record({ users: recordsArb(4), posts: recordsArb(5), tags: recordsArb(3) })

/** What the API shows of the keys of the data; what is null and was not there left out. */
async function shown(engine: RestEngine, file: Awaited<ReturnType<typeof readJsonFile>>): Promise<Json> {
  const all: Json = {}
  for (const { name, attributes, records } of file.collections) {
    const { body } = await engine.handle('GET', `/v1/${name}?limit=1000`)
    const rows = new Map(((body as Json)[name] as Json[]).map(row => [row['id'], row]))
    all[name] = records.map(record => {
      const row = rows.get(record['id'])!
      const pairs = attributes.map(({ key }) => [key, row[key]] as const)
      return Object.fromEntries(pairs.filter(([key, value]) => Object.hasOwn(record, key) || (value !== null && !isEmpty(value))))
    })
  }
  return all
}

/** What links lead to: a link to a missing record is null, and a null list is an empty one. */
function follow(attribute: InferredAttribute, value: unknown, data: Readonly<Record<string, Json[]>>): unknown {
  if (attribute.kind !== 'toOne' && attribute.kind !== 'toMany') return value
  const isThere = (id: unknown): boolean => data[attribute.target]!.some(record => record['id'] === id)
  if (attribute.kind === 'toMany') return ((value ?? []) as unknown[]).filter(isThere)
  return isThere(value) ? value : null
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}

/** The same with keys in one order. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(sorted)
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, sorted(item)]),
  )
}

describeStores('JSON files', { except: 'jsonb' }, () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mikro-rest-json-property-'))
  })
  after(() => rm(folder, { recursive: true, force: true }))

  it('show every value as it is in the data', () =>
    check(
      fc.asyncProperty(dataArb, async data => {
        const path = join(folder, 'shown.json')
        await writeFile(path, JSON.stringify(data))
        const file = await readJsonFile('shown.json', path)
        await using engine = await createEngine({ ...fromJson(data) })
        // A null list is an empty one, and a link to a missing record null.
        const expected = JSON.parse(JSON.stringify(data)) as Record<string, Json[]>
        for (const { name, attributes } of file.collections)
          for (const attribute of attributes)
            for (const record of expected[name]!)
              if (Object.hasOwn(record, attribute.key)) record[attribute.key] = follow(attribute, record[attribute.key], expected)
        assert.deepEqual(sorted(await shown(engine, file)), sorted(expected))
      }),
      { label: 'values of JSON files', runs: 60 },
    ))

  const stepArb = fc.oneof(
    fc.record({ kind: fc.constant('delete' as const), collection: fc.nat(2), at: fc.nat(9) }),
    fc.record({ kind: fc.constant('create' as const), collection: fc.nat(2), from: fc.nat(9) }),
    fc.record({ kind: fc.constant('change' as const), collection: fc.nat(2), at: fc.nat(9), from: fc.nat(9) }),
  )

  it('are saved as they are formatted, with the changes in them and nothing else', () =>
    check(
      fc.asyncProperty(
        dataArb,
        fc.array(fc.array(stepArb, { maxLength: 4 }), { maxLength: 3 }),
        fc.constantFrom(undefined, 2, '\t'),
        async (data, rounds, indent) => {
          const path = join(folder, 'saved.json')
          const before = JSON.stringify(data, undefined, indent)
          await writeFile(path, before)
          const file = await readJsonFile('saved.json', path)
          await using engine = await createEngine({
            ...buildModel(file.collections),
            onError: error => assert.fail(error as Error),
          })
          const saver = new Saver(engine, file)
          const names = ['users', 'posts', 'tags'] as const
          let isChanged = false
          for (const steps of rounds) {
            for (const step of steps) {
              const name = names[step.collection]!
              const list = ((await engine.handle('GET', `/v1/${name}?limit=1000`)).body as Record<string, Json[]>)[name]!
              const target = 'at' in step ? list[step.at % Math.max(1, list.length)] : undefined
              const { attributes } = file.collections.find(each => each.name === name)!
              const source = 'from' in step ? list[step.from % Math.max(1, list.length)] : undefined
              // What another record has is a valid value.
              const body = Object.fromEntries(
                attributes.filter(({ kind }) => kind !== 'id').map(each => [each.key, source?.[each.key] ?? null]),
              )
              const status =
                step.kind === 'create'
                  ? (await engine.handle('POST', `/v1/${name}`, undefined, body)).status
                  : target === undefined
                    ? 404
                    : (
                        await engine.handle(
                          step.kind === 'delete' ? 'DELETE' : 'PUT',
                          `/v1/${name}/${String(target['id'])}`,
                          undefined,
                          step.kind === 'change' ? body : undefined,
                        )
                      ).status
              isChanged ||= status === 200
            }
            assert.equal(await saver.flush(), true)
          }
          assert.equal(await saver.finish(), true)
          const saved = await readFile(path, 'utf8')
          if (!isChanged) assert.equal(saved, before)
          const value = parseLong(saved) as Record<string, Json[]>
          assert.equal(saved, JSON.stringify(parseKept(saved), undefined, indent))
          // A new start shows the same. Types may have become narrower, so values are compared and not the model.
          for (const { name, attributes } of file.collections) {
            const list = ((await engine.handle('GET', `/v1/${name}?limit=1000`)).body as Record<string, Json[]>)[name]!
            const byId = new Map(value[name]!.map(record => [record['id'], record]))
            assert.equal(byId.size, list.length)
            for (const row of list) {
              const record = byId.get(row['id'])!
              for (const attribute of attributes) {
                const { key } = attribute
                const found = Object.hasOwn(record, key) ? record[key] : null
                assert.deepEqual(follow(attribute, found, value), row[key], `${name}.${key}`)
              }
            }
          }
        },
      ),
      { label: 'saving JSON files', runs: 60 },
    ))

  /** Digits without quotes. */
  const bare = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON
  const spell = (id: number, form: string): unknown =>
    form === 'number' ? id : form === 'text' ? String(id) : form === 'long' ? bare(`900719925474${id}993`) : `900719925474${id}993`
  const linkArb = fc.constantFrom(1, 2, 3, 9)
  const postArb = fc.record({ user: fc.option(linkArb), users: fc.uniqueArray(linkArb, { maxLength: 3 }), parent: fc.option(linkArb) })
  const linkStepArb = fc.oneof(
    fc.record({ kind: fc.constant('patch' as const), at: fc.nat(5), user: fc.option(linkArb), parent: fc.option(linkArb) }),
    fc.record({ kind: fc.constant('lists' as const), at: fc.nat(5), users: fc.uniqueArray(linkArb, { maxLength: 3 }) }),
    fc.record({ kind: fc.constant('user' as const), id: linkArb }),
    fc.record({ kind: fc.constant('post' as const), user: fc.option(linkArb) }),
    fc.record({ kind: fc.constant('delete' as const), id: fc.constantFrom(2, 3, 9) }),
  )

  it('link by IDs of any spelling, exactly, keep the spelling, and show the same at the next start', () =>
    check(
      fc.asyncProperty(
        fc.constantFrom(
          ['number', 'number'],
          ['number', 'text'],
          ['text', 'number'],
          ['text', 'text'],
          ['long', 'long'],
          ['long', 'quoted'],
        ),
        fc.array(postArb, { maxLength: 2 }),
        fc.array(linkStepArb, { maxLength: 6 }),
        async ([ids, links], posts, steps) => {
          const path = join(folder, 'linked.json')
          // Most links lead to the first user, so that no step ends a relation.
          const all = [...Array.from({ length: 12 }, () => ({ user: 1, users: [1], parent: 1 })), ...posts]
          const data = {
            users: [1, 2, 3].map(id => ({ id: spell(id, ids) })),
            posts: all.map(({ user, users, parent }, index) => ({
              id: index + 1,
              userId: user === null ? null : spell(user, links),
              userIds: users.map(id => spell(id, links)),
              parentId: parent,
            })),
          }
          const line = (record: object): string => `\n    ${JSON.stringify(record)}`
          const before = `{ "users": [${data.users.map(line).join()} ],\n  "posts": [${data.posts.map(line).join()} ] }`
          await writeFile(path, before)
          const file = await readJsonFile('linked.json', path)
          const start = (of: typeof file): Promise<RestEngine> =>
            createEngine({ ...buildModel(of.collections), onError: error => assert.fail(error as Error) })
          const list = async (engine: RestEngine, name: string): Promise<Json[]> =>
            ((await engine.handle('GET', `/v1/${name}?limit=1000`)).body as Record<string, Json[]>)[name]!
          await using engine = await start(file)
          const shown = (id: number): unknown => spell(id, ids === 'long' ? 'quoted' : ids)
          const isThere = (id: number | null): id is number => id !== null && id <= 3
          assert.deepEqual(
            (await list(engine, 'posts')).map(({ userId, userIds, parentId }) => ({ userId, userIds, parentId })),
            all.map(({ user, users, parent }) => ({
              userId: isThere(user) ? shown(user) : null,
              userIds: users.filter(isThere).map(shown),
              parentId: parent,
            })),
          )
          const saver = new Saver(engine, file)
          const touched = new Set<unknown>()
          const revived = new Set<unknown>()
          const send = async (method: string, to: string, body?: Json): Promise<number> =>
            (await engine.handle(method, to, '', body)).status
          for (const step of steps) {
            const id = 'at' in step ? 13 + step.at : undefined
            if (step.kind === 'patch') {
              const body = { userId: step.user === null ? null : shown(step.user), parentId: step.parent }
              if ((await send('PATCH', `/v1/posts/${id}`, body)) === 200) touched.add(id)
            } else if (step.kind === 'lists') {
              if ((await send('PATCH', `/v1/posts/${id}`, { userIds: step.users.map(shown) })) === 200) touched.add(id)
            } else if (step.kind === 'user') {
              if ((await send('POST', '/v1/users', { id: shown(step.id) })) === 200) revived.add(step.id)
            } else if (step.kind === 'post') await send('POST', '/v1/posts', { userId: step.user === null ? null : shown(step.user) })
            else if ((await send('DELETE', `/v1/users/${String(shown(step.id))}`)) === 200) revived.add(step.id)
          }
          assert.equal(await saver.finish(), true)
          const saved = await readFile(path, 'utf8')
          for (const [index, post] of data.posts.entries()) {
            const { user, users } = all[index]!
            const isKept = !touched.has(post.id) && ![user, ...users].some(id => revived.has(id))
            if (isKept) assert.ok(saved.includes(JSON.stringify(post)), `${JSON.stringify(post)} in ${saved}`)
          }
          const value = parseKept(saved) as { users: Json[]; posts: (Json & { userIds: unknown[] })[] }
          const isForm = (form: string) => (each: unknown) =>
            each === null || (typeof each === 'string' ? 'text' : 'number') === (form === 'long' || form === 'number' ? 'number' : 'text')
          assert.ok(value.users.map(({ id }) => id).every(isForm(ids)), saved)
          assert.ok(value.posts.flatMap(({ userId, userIds }) => [userId, ...userIds]).every(isForm(links)), saved)
          await using again = await start(await readJsonFile('linked.json', path))
          // Lists of the other side have no order of their own.
          const ordered = (records: Json[]): Json[] =>
            records.map(record => ({
              ...record,
              postsAsUsers: [...((record['postsAsUsers'] as number[] | undefined) ?? [])].toSorted((a, b) => a - b),
            }))
          for (const name of ['users', 'posts'])
            assert.deepEqual(ordered(await list(again, name)), ordered(await list(engine, name)), saved)
        },
      ),
      { label: 'links of JSON files', runs: 40 },
    ))

  it('are edited in place, whatever their white space', () => {
    const spaceArb = fc.constantFrom('', ' ', '\n', '\r\n\t', '  \n')
    const recordArb = fc.dictionary(keyArb, valueArb, { noNullPrototype: true })
    const editArb = fc.oneof(fc.constantFrom('delete' as const, undefined), recordArb)
    return check(
      fc.property(
        fc.array(fc.dictionary(keyArb, valueArb, { noNullPrototype: true }), { maxLength: 4 }),
        fc.infiniteStream(spaceArb),
        fc.array(fc.record({ edits: fc.array(editArb, { maxLength: 6 }), added: fc.array(recordArb, { maxLength: 2 }) }), { maxLength: 3 }),
        (list, spaces, rounds) => {
          const space = (): string => spaces.next().value as string
          const spread = (value: unknown): string =>
            typeof value !== 'object' || value === null
              ? JSON.stringify(value)
              : Array.isArray(value)
                ? `[${value.length === 0 ? space() : value.map(item => space() + spread(item) + space()).join(',')}]`
                : `{${Object.entries(value)
                    .map(([key, item]) => `${space()}${JSON.stringify(key)}${space()}:${space()}${spread(item)}${space()}`)
                    .join(',')}}`
          const after: unknown[] = [1]
          const text = `${space()}${spread({ before: 'x', list, after })}${space()}`
          const edited = new EditedText(text)
          let expected: Json[] = list
          for (const { edits, added } of rounds) {
            const records = edits.slice(0, expected.length)
            const changes = new Map(
              records.flatMap((edit, index) => (edit === undefined ? [] : [[index, edit === 'delete' ? edit : () => edit]])),
            )
            edited.edit(
              new Map([
                ['list', { records: changes, added }],
                ['after', { records: new Map(), added }],
              ]),
            )
            const isKept = (_: unknown, index: number): boolean => records[index] !== 'delete'
            expected = [...expected.map((record, index) => ({ ...record, ...(records[index] as Json) })).filter(isKept), ...added]
            after.push(...added)
            assert.deepEqual(JSON.parse(edited.text), { before: 'x', list: expected, after })
          }
        },
      ),
      { label: 'editing JSON text', runs: 500 },
    )
  })
})
