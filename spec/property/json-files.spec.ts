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
import { EditedText } from '../../lib/doors/cli/json-edit.ts'
import { readJsonFile } from '../../lib/doors/cli/json-file.ts'
import { Saver } from '../../lib/doors/cli/save.ts'
import { buildModel } from '../../lib/model/json-model/from-json.ts'
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
        // A null list is an empty one.
        const expected = JSON.parse(JSON.stringify(data)) as Record<string, Json[]>
        for (const { name, attributes } of file.collections)
          for (const { kind, key } of attributes)
            for (const record of expected[name]!) if (kind === 'toMany' && record[key] === null) record[key] = []
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
          const value = JSON.parse(saved) as Record<string, Json[]>
          assert.equal(saved, JSON.stringify(value, undefined, indent))
          // A new start shows the same. Types may have become narrower, so values are compared and not the model.
          for (const { name, attributes } of file.collections) {
            const list = ((await engine.handle('GET', `/v1/${name}?limit=1000`)).body as Record<string, Json[]>)[name]!
            const byId = new Map(value[name]!.map(record => [record['id'], record]))
            assert.equal(byId.size, list.length)
            for (const row of list) {
              const record = byId.get(row['id'])!
              for (const { kind, key } of attributes) {
                const found = Object.hasOwn(record, key) ? record[key] : null
                assert.deepEqual(kind === 'toMany' ? (found ?? []) : found, row[key], `${name}.${key}`)
              }
            }
          }
        },
      ),
      { label: 'saving JSON files', runs: 60 },
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
