/**
 * The diagram of a model: every resource, attribute and relation that the OpenAPI document has, and nothing else; as a picture and as a
 * text of Mermaid.
 */
import assert from 'node:assert/strict'
import { readFile, rm, writeFile, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { resource, RestEngine } from '../../lib/index.ts'
import type { OpenApiDocument } from '../../lib/index.ts'
import { Command } from '../helpers/command.ts'
import { worlds } from '../openapi/worlds.ts'

const User = defineEntity({
  name: 'User',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    password: p.string().hidden(),
    profile: () => p.oneToOne(Profile).mappedBy('user'),
    posts: () => p.oneToMany(Post).mappedBy('author'),
    boss: () => p.manyToOne(User).nullable(),
    secrets: () => p.oneToMany(Secret).mappedBy('user'),
  },
})
const Profile = defineEntity({ name: 'Profile', properties: { id: p.integer().primary(), user: () => p.oneToOne(User) } })
const Post = defineEntity({
  name: 'Post',
  properties: {
    id: p.integer().primary(),
    title: p.string(),
    state: p.enum(['draft', 'out']),
    author: () => p.manyToOne(User),
    editor: () => p.manyToOne(User).nullable(),
    hiddenEditor: () => p.manyToOne(User).nullable().hidden(),
    tags: () => p.manyToMany(Tag),
  },
})
const Tag = defineEntity({
  name: 'Tag',
  properties: { code: p.string().primary(), posts: () => p.manyToMany(Post).mappedBy('tags') },
})
const Secret = defineEntity({ name: 'Secret', properties: { id: p.integer().primary(), text: p.string(), user: () => p.manyToOne(User) } })
const entities = [User, Profile, Post, Tag, Secret]
const nobody = { list: false, get: false, create: false, update: false, delete: false }

/** The names in a picture, and its relations as they are said in words. */
function readPicture(svg: string): { resources: string[]; texts: string[]; relations: string[] } {
  const all = (pattern: RegExp): string[] => [...svg.matchAll(pattern)].map(([, text]) => text!)
  return {
    resources: all(/<g data-resource="([^"]*)"/g),
    texts: all(/<text[^>]*>([^<]*)<\/text>/g),
    relations: all(/<g data-from[^>]*><title>([^<]*)</g),
  }
}

/** The names of all properties of the schema of a record. */
function namesIn({ components }: OpenApiDocument): Set<string> {
  const schemas = components['schemas'] as Record<string, { properties?: object }>
  return new Set(Object.values(schemas).flatMap(({ properties = {} }) => Object.keys(properties)))
}

describe('the diagram of a model', () => {
  it('has each relation once, with its cardinalities', async () => {
    await using engine = await RestEngine.create({ entities, resources: [resource(Secret, { access: nobody })] })
    const { resources, texts, relations } = readPicture(await engine.diagram())
    assert.deepEqual(resources, ['users', 'profiles', 'posts', 'tags'])
    assert.deepEqual(relations.toSorted(), [
      'posts.author and users.posts: any number of posts to one of users',
      'posts.editor: any number of posts to at most one of users',
      'posts.tags and tags.posts: any number of posts to any number of tags',
      'profiles.user and users.profile: at most one of profiles to one of users',
      'users.boss: any number of users to at most one of users',
    ])
    for (const hidden of ['password', 'hiddenEditor', 'secrets']) assert.ok(!texts.includes(hidden), hidden)
    for (const shown of ['title', 'state', 'author', 'code']) assert.ok(texts.includes(shown), shown)
  })

  it('is a text of Mermaid, too', async () => {
    await using engine = await RestEngine.create({
      entities: [Post, Tag, User, Profile, Secret],
      resources: [resource(Secret, { access: nobody })],
    })
    assert.equal(
      (await engine.diagram({ format: 'mermaid' })).replace(/ {2}users \{[^}]*\}\n {2}profiles[^}]*\}\n/, ''),
      [
        'erDiagram',
        '  posts {',
        '    integer id PK',
        '    text title',
        '    enum state',
        '    user author FK',
        '    user editor FK',
        '    tag[] tags',
        '  }',
        '  tags {',
        '    text code PK',
        '    post[] posts',
        '  }',
        '  posts }o--|| users : "author / posts"',
        '  posts }o--o| users : "editor"',
        '  posts }o--o{ tags : "tags / posts"',
        '  users }o--o| users : "boss"',
        '  profiles |o--|| users : "user / profile"',
        '',
      ].join('\n'),
    )
  })

  it('shows a relation by the side that is not hidden', async () => {
    const Shop = defineEntity({
      name: 'Shop',
      properties: { id: p.integer().primary(), orders: () => p.oneToMany(Order).mappedBy('shop') },
    })
    const Order = defineEntity({ name: 'Order', properties: { id: p.integer().primary(), shop: () => p.manyToOne(Shop).hidden() } })
    await using engine = await RestEngine.create({ entities: [Shop, Order] })
    assert.deepEqual(readPicture(await engine.diagram()).relations, ['shops.orders: any number of orders to at most one of shops'])
  })

  for (const { name, create } of worlds) {
    it(`has nothing that the document has not: ${name}`, async () => {
      await using engine = await create()
      for (const version of engine.versions) {
        const document = await engine.openapi({ version })
        const known = namesIn(document)
        const tags = (document['tags'] as { name: string }[]).map(tag => tag.name)
        const text = await engine.diagram({ version, format: 'mermaid' })
        const shown = [...text.matchAll(/^ {4}\S+ (\S+)/gm)].map(([, attribute]) => attribute!)
        assert.ok(shown.length > 0)
        assert.deepEqual(
          shown.filter(attribute => !known.has(attribute)),
          [],
        )
        const { resources } = readPicture(await engine.diagram({ version }))
        assert.deepEqual(
          resources.filter(plural => !tags.includes(plural)),
          [],
        )
      }
    })
  }

  it('takes any name', async () => {
    const Odd = defineEntity({
      name: 'Odd',
      properties: {
        id: p.integer().primary(),
        quoted: p.string().serializedName('a "b" & <script>'),
        brackets: p.string().serializedName('[]x]'),
        PK: p.string(),
      },
    })
    await using engine = await RestEngine.create({
      entities: [Odd],
      resources: [resource(Odd, { name: '1-日~x', singular: 'end' })],
    })
    const svg = await engine.diagram()
    assert.ok(!svg.includes('<script') && svg.includes('&#60;script&#62;'))
    const text = await engine.diagram({ format: 'mermaid' })
    assert.match(text, /^ {2}_1___x\["1-日~x"\] \{$/m)
    assert.match(text, /^ {4}text a__b_____script_ "a 'b' & <script>"$/m)
    assert.match(text, /^ {4}text PK_ "PK"$/m)
    assert.match(text, /^ {4}text __x_ "\[\]x\]"$/m)
  })

  it('refuses options that it does not know', async () => {
    await using engine = await RestEngine.create({ entities })
    await assert.rejects(engine.diagram({ version: 'v2' }), {
      name: 'RangeError',
      message: 'engine.diagram: there is no version "v2".',
    })
    await assert.rejects(engine.diagram({ format: 'png' as 'svg' }), {
      name: 'RangeError',
      message: /"format" must be "svg" or "mermaid", got "png"/,
    })
    await assert.rejects(engine.diagram({ formt: 'svg' } as object), { name: 'TypeError', message: /Did you mean "format"\?/ })
  })
})

describe('--diagram', () => {
  it('writes a picture or a text, and replaces nothing else', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'mikro-rest-'))
    try {
      await writeFile(join(folder, 'db.json'), JSON.stringify({ users: [{ id: 1, name: 'Ann' }], posts: [{ id: 1, userId: 1 }] }))
      const run = async (...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> => {
        await using command = new Command(folder, 'db.json', ...args)
        const { code } = await command.ended
        return { code, stdout: command.stdout, stderr: command.stderr }
      }
      assert.match((await run('--diagram')).stdout, /^erDiagram\n {2}users \{\n[^]*\n {2}posts \}o--o\| users : "user \/ posts"\n$/)
      for (const name of ['model.svg', 'model.mmd', 'model.svg']) {
        assert.deepEqual((await run('--diagram', name)).stdout, `mikro-rest has written the diagram to ${name}.\n`)
      }
      assert.match(await readFile(join(folder, 'model.svg'), 'utf8'), /^<svg [^]*<\/svg>\n$/)
      assert.match(await readFile(join(folder, 'model.mmd'), 'utf8'), /^erDiagram/)
      await writeFile(join(folder, 'logo.svg'), '<svg></svg>')
      const refused = await run('--diagram', 'logo.svg')
      assert.deepEqual([refused.code, /--diagram does not replace logo\.svg, which is not a diagram\./.test(refused.stderr)], [2, true])
      assert.match((await run('--diagram', 'model.png')).stderr, /--diagram takes a file whose name ends with \.svg or \.mmd/)
      assert.match((await run('--diagram', 'model.svg', '--openapi', 'x.json')).stderr, /does not go with --diagram/)
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
