/** The public names: those of an engine at run time, and the exports of each entry of the package, against the reference, both ways. */
import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { defineEntity, p } from '@mikro-orm/core'
import { createServer, listener, RestEngine } from '../../lib/index.ts'
import { findInternals, internalsOf } from '../../lib/engine/assembly/internals.ts'
import { namesBelow } from '../helpers/markdown.ts'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..')
const read = (file: string): string => readFileSync(join(root, file), 'utf8')
const exported = read('docs/reference-exports.md')

const Book = defineEntity({ name: 'Book', properties: { id: p.integer().primary(), title: p.string() } })

/** Every name that an object and its prototypes have, but for those of all objects. */
function namesOf(object: object): string[] {
  const names: string[] = []
  for (let at = object; at !== Object.prototype; at = Object.getPrototypeOf(at) as object) names.push(...Reflect.ownKeys(at).map(String))
  return names.filter(name => name !== 'constructor')
}

/** The names that a module exports, each with its kind; those of `export *`, too. */
function exportsOf(file: string): string[] {
  const text = read(file)
  const shared = [...text.matchAll(/^export \* from '(.+)'/gm)].flatMap(([, other = '']) => exportsOf(join(dirname(file), other)))
  const own = [...text.matchAll(/^export (type )?\{([^}]*)\}/gm)].flatMap(([, type, names = '']) =>
    names
      .split(',')
      .map(name => name.trim())
      .filter(name => name !== '')
      .map(name => `${type === undefined ? 'value' : 'type'} ${name}`),
  )
  return [...shared, ...own]
}

/** The names in the lists of a section: `- types `Har`, `HarPair`: ...` are two types. */
function listedBelow(heading: string): { readonly type: boolean; readonly name: string }[] {
  const [, section = ''] = exported.split(`\n## ${heading}\n`)
  const [own = ''] = section.split('\n## ')
  return [...own.matchAll(/^- (types? )?((?:`[^`]+`(?:,\s+)?)+):\s+\S/gm)].flatMap(([, type, names = '']) =>
    [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => ({ type: type !== undefined, name })),
  )
}

/** Types of servers, files and drift: no exports of the entry for pages. */
const NOT_IN_PAGE = [
  'CorsOrigins',
  'Difference',
  'DifferenceKind',
  'DriftOptions',
  'DriftReport',
  'FileType',
  'Listener',
  'ListenerOptions',
  'RequestLine',
  'Send',
  'ServerOptions',
  'TestControlOptions',
]

describe('the public names', () => {
  it('of an engine are those of the reference, at run time, too', async () => {
    await using engine = await RestEngine.create({ entities: [Book] })
    // `await using` is in the entry of close.
    const documented = [...namesBelow(read('docs/reference-engine.md'), 'Engine members'), 'Symbol(Symbol.asyncDispose)']
    assert.deepEqual(namesOf(engine).toSorted(), documented.toSorted())
    await using fork = await engine.fork()
    assert.deepEqual(namesOf(fork).toSorted(), documented.toSorted())
    assert.deepEqual(namesOf(await engine.snapshot()), ['size'])
    assert.deepEqual(
      Object.getOwnPropertyNames(RestEngine).filter(name => !['length', 'name', 'prototype'].includes(name)),
      ['create'],
    )
  })

  it('of its methods take what the reference says: no argument more', () => {
    const { openapi, selfTest, explain, handle } = RestEngine.prototype
    assert.deepEqual(
      [openapi, selfTest].map(method => method.length),
      [0, 0],
    )
    assert.deepEqual(
      [handle, explain].map(method => method.length),
      [4, 4],
    )
  })

  it('of each entry are those of the reference', () => {
    for (const [file, heading] of [
      ['lib/index.ts', 'The library'],
      ['lib/model/client/index.ts', 'The client'],
    ] as const) {
      const documented = listedBelow(heading).map(({ type, name }) => `${type ? 'type' : 'value'} ${name}`)
      assert.deepEqual(documented.toSorted(), exportsOf(file).toSorted(), file)
    }
    const inPage = exportsOf('lib/browser.ts')
    const all = exportsOf('lib/index.ts')
    const [entry = ''] = /^- `mikro-rest\/browser`:.*?\n(?=-)/ms.exec(exported) ?? []
    const [without, added] = [all.filter(name => !inPage.includes(name)), inPage.filter(name => !all.includes(name))]
    for (const name of [...without.filter(each => each.startsWith('value ')), ...added])
      assert.ok(entry.includes(`\`${name.split(' ')[1]}`), `${name} in the list of mikro-rest/browser`)
    const types = without.filter(name => name.startsWith('type ')).map(name => name.slice('type '.length))
    assert.deepEqual(types.toSorted(), NOT_IN_PAGE)
    const { exports } = JSON.parse(read('package.json')) as { exports: Record<string, unknown> }
    const named = listedBelow('Other entries').map(({ name }) => name.replace('mikro-rest', '.'))
    assert.deepEqual(Object.keys(exports), ['.', './client', ...named])
  })

  it('are all that there is: nothing is hidden from the types alone', () => {
    const hidden = readdirSync(join(root, 'lib'), { recursive: true, encoding: 'utf8' }).filter(
      file => file.endsWith('.ts') && read(`lib/${file}`).includes('@internal'),
    )
    assert.deepEqual(hidden, [])
  })
})

describe('what the package itself asks of an engine', () => {
  it('is kept beside it', async () => {
    await using engine = await RestEngine.create({ entities: [Book] })
    assert.deepEqual(
      internalsOf(engine).model.resources.map(({ plural }) => plural),
      ['books'],
    )
    assert.equal(findInternals({ ...engine }), undefined)
    assert.equal(findInternals(undefined), undefined)
    assert.throws(() => internalsOf({}), { name: 'TypeError', message: /RestEngine\.create/ })
  })

  it('is not there for anything else: a server and a listener need an engine', async () => {
    await using engine = await RestEngine.create({ entities: [Book] })
    for (const wrong of [undefined, {}, { ...engine }, Object.create(engine) as RestEngine]) {
      assert.throws(() => createServer(wrong as never), {
        name: 'TypeError',
        message: /createServer: the first argument must be an engine/,
      })
      assert.throws(() => listener(wrong as never), { name: 'TypeError', message: /listener: the first argument must be an engine/ })
    }
  })
})
