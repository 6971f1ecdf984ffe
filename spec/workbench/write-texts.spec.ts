/** The parts of writing in the workbench that need no browser: values of fields, CSV files, faults of a refusal. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { OutlinedResource } from '../../lib/description/outline/outline-parts.ts'
import type { OutlinedAttribute } from '../../lib/description/outline/outline-parts.ts'
import { matchColumns, parseCsv, readCsvRecords } from '../../lib/workbench/data/csv.ts'
import { readFaults, readLineFaults } from '../../lib/workbench/data/field-faults.ts'
import { isLarge, readDraft, writeDraft } from '../../lib/workbench/data/input-text.ts'
import { readPrefilled } from '../../lib/workbench/data/list-query.ts'

function attribute(name: string, type: string, more: Partial<OutlinedAttribute> = {}): OutlinedAttribute {
  const plain = { nullable: false, required: true, readOnly: false, unique: false, filterable: true, sortable: true } as const
  return { name, kind: 'scalar', type, ...plain, ...more }
}

const id = attribute('id', 'integer', { required: false })
const owner = attribute('owner', 'users', { kind: 'toOne', target: 'users', nullable: true, ids: 'ownerId' })
const users: OutlinedResource = {
  name: 'users',
  singular: 'user',
  key: ['id'],
  creates: true,
  updates: true,
  deletes: true,
  attributes: [id],
}
const notes: OutlinedResource = {
  ...users,
  name: 'notes',
  attributes: [
    id,
    attribute('full_title', 'text'),
    attribute('done', 'boolean'),
    attribute('stars', 'integer', { nullable: true }),
    attribute('meta', 'json', { nullable: true }),
    owner,
  ],
}
const find = (name: string) => [users, notes].find(each => each.name === name)

describe('values of fields', () => {
  it('have the type of their attribute, and what is not of it is sent as it is', () => {
    const read = (type: string, text: string | null, more: Partial<OutlinedAttribute> = {}) => readDraft(text, attribute('x', type, more))
    assert.deepEqual(
      [read('integer', '12'), read('integer', 'twelve'), read('integer', ''), read('float', '1.5e3')],
      [12, 'twelve', null, 1500],
    )
    assert.deepEqual([read('text', ''), read('text', '12'), read('text', null)], ['', '12', null])
    assert.deepEqual([read('bigint', '9007199254740993'), read('decimal', '1.50')], ['9007199254740993', '1.50'])
    assert.deepEqual([read('boolean', 'true'), read('boolean', 'false'), read('boolean', 'maybe')], [true, false, 'maybe'])
    assert.deepEqual([read('enum', '2', { items: [1, 2] }), read('enum', 'a', { items: ['a'] })], [2, 'a'])
    assert.deepEqual([read('json', '{"a":[1]}'), read('any', '12'), read('any', '012'), read('any', 'x')], [{ a: [1] }, 12, '012', 'x'])
    assert.throws(() => read('json', '{'), SyntaxError)
    assert.deepEqual([readDraft('7', owner, users), readDraft('', owner, users), readDraft('x', owner, users)], [7, null, 'x'])
  })

  it('come back as they were', () => {
    for (const [type, value] of [
      ['integer', 12],
      ['text', 'a\nb'],
      ['boolean', false],
      ['json', { a: [1, null] }],
      ['any', 12],
      ['any', 'x'],
      ['decimal', '1.50'],
    ] as const)
      assert.deepEqual(readDraft(writeDraft(attribute('x', type), value)!, attribute('x', type)), value)
  })

  it('need a larger field where they are long, or JSON', () => {
    assert.deepEqual(
      [isLarge(attribute('x', 'text'), 'short'), isLarge(attribute('x', 'text'), 'a\nb'), isLarge(attribute('x', 'json'), null)],
      [false, true, true],
    )
  })

  it('begin with what the filters of the list ask for', () => {
    const names = { limit: 'limit', offset: 'offset', sort: 'sort', depth: 'depth', attributes: 'attributes', expand: 'expand' }
    assert.deepEqual(readPrefilled('ownerId=3&done=true&stars=1,2&full_title=A*&meta=null&id!=4&sort=id', notes, names), {
      owner: '3',
      done: 'true',
    })
  })
})

describe('CSV files', () => {
  it('are read with quotes, any line end and separator, and know their lines', () => {
    const { names, rows, lines } = parseCsv('\uFEFFa,"b ""x""",c\r\n1,"two\nlines",\r\n\r\n"3, 4",5,6')
    assert.deepEqual(names, ['a', 'b "x"', 'c'])
    assert.deepEqual(rows, [
      ['1', 'two\nlines', ''],
      ['3, 4', '5', '6'],
    ])
    assert.deepEqual(lines, [2, 5])
    for (const sign of [';', '\t', '|']) assert.deepEqual(parseCsv(`a${sign}b\n1${sign}2\n`).rows, [['1', '2']])
    assert.deepEqual(parseCsv('').rows, [])
    assert.throws(() => parseCsv('a,b\n1,2,3'), /Line 2: it has 3 values, the first line 2 names/)
    assert.throws(() => parseCsv('a\n"b'), /Line 2: a quote does not end/)
  })

  it('are matched by name, and made records of', () => {
    const file = parseCsv('Full Title,OwnerID,DONE,stars,meta,other\nOne,3,yes,,"{""a"":1}",x\n,,0,5,{,\n')
    const columns = matchColumns(file.names, notes)
    assert.deepEqual(columns, ['full_title', 'owner', 'done', 'stars', 'meta', undefined])
    const { records, faults } = readCsvRecords(file, columns, notes, find)
    assert.deepEqual(records, [
      { full_title: 'One', ownerId: 3, done: true, stars: null, meta: { a: 1 } },
      { full_title: '', ownerId: null, done: false, stars: 5 },
    ])
    assert.match(faults.join(), /^Line 3: "meta" is not JSON/)
  })
})

describe('faults of a refusal', () => {
  it('are told by attribute, and by line', () => {
    const body = {
      errors: [
        { attribute: 'ownerId', detail: 'A.' },
        { attribute: 'meta.a', detail: 'B.' },
        { attribute: 'meta', detail: 'C.' },
        { detail: 'D.' },
      ],
    }
    const { byName, others } = readFaults(body, notes)
    assert.deepEqual([...byName, others], [['owner', 'A.'], ['meta', 'B. C.'], ['D.']])
    assert.deepEqual(
      readLineFaults({ errors: [{ attribute: '1.done', detail: '[1]: "done" must be given.' }, { detail: 'other' }] }, [2, 5]),
      ['Line 5: "done" must be given.'],
    )
    for (const odd of [undefined, 'text', { errors: 'x' }]) assert.equal(readFaults(odd, notes).byName.size, 0)
  })
})
