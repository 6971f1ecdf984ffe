/** Documents: valid and clean for the tools of others, the same each time, with nothing in them that not everybody may know. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { EntitySchema, Type, defineEntity, p } from '@mikro-orm/core'
import { auth, resource, RestEngine } from '../../lib/index.ts'
import type { OpenApiDocument } from '../../lib/description/openapi/openapi-document.ts'
import { Conformity } from './conformity.ts'
import { worlds } from './worlds.ts'
import type { World } from './worlds.ts'

const VALIDATOR: string = '@seriousme/openapi-schema-validator'
const SPECTRAL: string = '@stoplight/spectral-core'
const RULES: string = '@stoplight/spectral-rulesets'

interface Validator {
  validate(given: object): Promise<{ valid: boolean; errors?: unknown }>
}

/** One for all documents: it compiles the schema of a version of OpenAPI once. */
let validator: Validator | undefined

async function validate(document: OpenApiDocument): Promise<unknown> {
  const { Validator } = (await import(VALIDATOR)) as { Validator: new () => Validator }
  const { valid, errors } = await (validator ??= new Validator()).validate(structuredClone(document))
  return valid ? [] : errors
}

interface Core {
  Spectral: new () => {
    setRuleset(rules: object): void
    run(document: object): Promise<{ code: unknown; message: string; path: unknown }[]>
  }
}

/** Imports a CommonJS package, whose exports are also those of the module where a loader of the process says so. */
async function load<Exports>(name: string): Promise<Exports> {
  const module = (await import(name)) as Exports & { default?: Exports }
  return module.default ?? module
}

/** One for all documents, too: it compiles the paths of its rules. */
let spectral: Promise<InstanceType<Core['Spectral']>> | undefined

async function makeSpectral(): Promise<InstanceType<Core['Spectral']>> {
  const core = await load<Core>(SPECTRAL)
  const rulesets = await load<{ oas: unknown }>(RULES)
  const made = new core.Spectral()
  made.setRuleset({ extends: [rulesets.oas] })
  return made
}

async function lintBySpectral(document: OpenApiDocument): Promise<readonly { readonly code: unknown }[]> {
  return (await (await (spectral ??= makeSpectral())).run(document)).map(({ code, message, path }) => ({ code, message, path }))
}

/** Lints by Redocly's recommended rules, warnings included. The licence of an API is its owner's to name. */
async function lintByRedocly(documents: Readonly<Record<string, OpenApiDocument>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mikro-rest-'))
  try {
    for (const [name, document] of Object.entries(documents)) await writeFile(join(folder, `${name}.json`), JSON.stringify(document))
    const cli = join(dirname(createRequire(import.meta.url).resolve('@redocly/cli/package.json')), 'bin/cli.js')
    const files = Object.keys(documents).map(name => `${name}.json`)
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
    const { stdout, stderr, status } = spawnSync(
      process.execPath,
      [cli, 'lint', '--extends', 'recommended', '--skip-rule', 'info-license', ...files],
      {
        cwd: folder,
        env,
        encoding: 'utf8',
      },
    )
    const output = stdout + stderr
    return status === 0 && !/\bwarnings?\b/i.test(output) ? '' : output
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** Those of all worlds, made once: nobody changes them. */
let made: Promise<Record<string, OpenApiDocument>> | undefined
const documents = (): Promise<Record<string, OpenApiDocument>> => (made ??= makeDocuments())

async function makeDocuments(of: readonly World[] = worlds): Promise<Record<string, OpenApiDocument>> {
  const made: Record<string, OpenApiDocument> = {}
  for (const { name, create } of of) {
    await using engine = await create()
    for (const version of engine.versions) {
      made[`${name}-${version}`] = await engine.openapi({ version, details: true })
      made[`${name}-${version}-short`] = await engine.openapi({ version })
      made[`${name}-${version}-whole`] = await engine.openapi({ version, attributes: true })
    }
  }
  return made
}

describe('OpenAPI documents', { timeout: 300_000 }, () => {
  it('are valid, in 3.1 and 3.2', async () => {
    for (const [name, document] of Object.entries(await documents())) {
      assert.equal(document.openapi, '3.1.1')
      assert.deepEqual(await validate(document), [], name)
    }
    await using engine = await worlds[0]!.create()
    const later = await engine.openapi({ openapi: '3.2', details: true })
    assert.equal(later.openapi, '3.2.0')
    assert.deepEqual(await validate(later), [])
  })

  it('with details are clean for Redocly, without a warning', async () => {
    // Whole documents have more parameters, which are made alike in all worlds; the sample stands configured beside.
    const isLinted = (name: string): boolean =>
      name === 'library-v1-whole' || (!name.endsWith('-short') && !name.endsWith('-whole') && !name.startsWith('sample'))
    assert.equal(await lintByRedocly(Object.fromEntries(Object.entries(await documents()).filter(([name]) => isLinted(name)))), '')
  })

  it('with details are clean for Spectral, without a hint', async () => {
    const Sheep = defineEntity({
      name: 'Sheep',
      properties: {
        id: p.integer().primary(),
        name: p.string(),
        password: p.string().hidden(),
        mother: () => p.manyToOne(Sheep).nullable(),
      },
    })
    await using engine = await RestEngine.create({ entities: [Sheep], auth: auth({ entity: Sheep, identifier: 'name' }) })
    assert.deepEqual(await lintBySpectral(await engine.openapi({ attributes: true })), [])
    await using sample = await worlds[0]!.create()
    assert.deepEqual(await lintBySpectral(await sample.openapi({ attributes: true, filters: 'none' })), [])
    // What operations of a kind have in common the description of the document says once.
    const hints = [
      ...(await lintBySpectral(await engine.openapi({ details: true }))),
      ...(await lintBySpectral(await sample.openapi({ filters: 'none', details: true }))),
    ]
    assert.deepEqual(
      hints.filter(({ code }) => code !== 'operation-description'),
      [],
    )
  })

  it('are the same for the same model, and each caller gets one of their own', async () => {
    // What made-up records hold has the time of their making.
    const again = await makeDocuments(worlds.filter(({ name }) => name !== 'shop'))
    const all = await documents()
    for (const [name, document] of Object.entries(again)) assert.equal(JSON.stringify(document), JSON.stringify(all[name]), name)
    assert.equal(Object.keys(again).length, Object.keys(all).length - 3, 'those of the shop')
    await using engine = await worlds[0]!.create()
    const mine = (await engine.openapi({ details: true })) as { paths: unknown }
    mine.paths = {}
    assert.notDeepEqual((await engine.openapi({ details: true })).paths, {})
  })

  it('name each operation once, and refer to nothing that is not there', async () => {
    for (const document of Object.values(await documents())) {
      const ids = new Conformity(document).operations.map(({ operationId }) => operationId)
      assert.equal(new Set(ids).size, ids.length)
      for (const id of ids) assert.match(id, /^[A-Za-z][A-Za-z0-9]*$/)
      const text = JSON.stringify(document)
      for (const [, section = '', name = ''] of text.matchAll(/"#\/components\/(\w+)\/(\w+)"/g))
        assert.ok(name in ((document.components as Record<string, object>)[section] ?? {}), name)
      for (const [, id = ''] of text.matchAll(/"operationId":"(\w+)","parameters":\{/g)) assert.ok(ids.includes(id), id)
    }
  })
})

describe('what documents do not tell', () => {
  const Owner = defineEntity({
    name: 'Owner',
    properties: {
      id: p.integer().primary(),
      name: p.string(),
      password: p.string().hidden(),
      salary: p.integer(),
      dogs: () => p.oneToMany(Dog).mappedBy('owner'),
    },
  })
  const Dog = defineEntity({
    name: 'Dog',
    properties: { id: p.integer().primary(), name: p.string(), owner: () => p.manyToOne(Owner), vet: () => p.manyToOne(Vet).nullable() },
  })
  const Vet = defineEntity({ name: 'Vet', properties: { id: p.integer().primary(), phone: p.string() } })
  const entities = [Owner, Dog, Vet]
  const seed = {
    owners: [{ id: 4711, name: 'private-name', password: 'hidden-word', salary: 987654 }],
    vets: [{ id: 815, phone: 'scoped-phone' }],
    dogs: [{ id: 1, name: 'Rex', owner: 4711, vet: 815 }],
  }

  it('shows the records of an open model', async () => {
    await using engine = await RestEngine.create({ entities, seed })
    const text = JSON.stringify(await engine.openapi({ details: true }))
    for (const shown of ['private-name', '987654', 'scoped-phone', 'Rex']) assert.ok(text.includes(shown), shown)
    assert.ok(!text.includes('hidden-word'))
  })

  it('shows nothing that is hidden, private, scoped, rendered, or for some callers only', async () => {
    const resources = [
      resource(Owner, { attributes: { name: { private: true }, salary: { render: () => 0 } }, access: ctx => ctx.user !== undefined }),
      resource(Vet, { scope: () => ({ id: { $gt: 0 } }) }),
    ]
    await using engine = await RestEngine.create({ entities, seed, resources })
    const document = await engine.openapi({ details: true })
    const text = JSON.stringify(document)
    for (const kept of ['private-name', 'hidden-word', '987654', 'scoped-phone', '4711', '815']) assert.ok(!text.includes(kept), kept)
    assert.ok(text.includes('Rex'))
    const { Owner: shown, OwnerPatch: given } = document.components['schemas'] as Record<string, { properties: object }>
    assert.deepEqual(Object.keys(shown!.properties), ['id', 'salary', 'dogs'])
    assert.deepEqual(Object.keys(given!.properties), ['id', 'name', 'password', 'salary', 'dogs'])
  })

  it('shows no record where a token is needed to read it', async () => {
    const login = auth({ entity: Owner, identifier: 'name', public: ['GET /v1/vets*'] })
    await using engine = await RestEngine.create({ entities, seed, auth: login })
    const text = JSON.stringify(await engine.openapi({ details: true }))
    assert.ok(!text.includes('Rex'))
    assert.ok(text.includes('scoped-phone'))
  })

  it('says that a record always shows what it shows, so that typed clients need not ask', async () => {
    await using engine = await RestEngine.create({ entities })
    const { schemas } = (await engine.openapi({ details: true })).components as unknown as {
      schemas: Record<string, { required: string[] }>
    }
    assert.deepEqual(schemas['Vet']!.required, ['id', 'phone'])
  })

  it('has no operation that is forbidden to all, and none that writes where nothing is written', async () => {
    const resources = [resource(Vet, { access: false }), resource(Owner, { access: { create: false, delete: false } })]
    await using engine = await RestEngine.create({ entities, resources })
    const { paths } = await engine.openapi({ details: true })
    assert.deepEqual(
      Object.keys(paths).filter(path => path.includes('vet')),
      [],
    )
    assert.deepEqual(Object.keys(paths['/v1/owners']!), ['get'])
    assert.deepEqual(Object.keys(paths['/v1/owners/{id}']!), ['parameters', 'get', 'put', 'patch'])
    await using reading = await RestEngine.create({ entities, readOnly: true })
    const items = Object.values((await reading.openapi()).paths)
    for (const item of items)
      assert.deepEqual(
        Object.keys(item).filter(key => key !== 'parameters'),
        ['get'],
      )
  })

  it('says of a custom type what its runtimeType or its column says, and nothing of one that shows anything', async () => {
    class Said extends Type<number, string> {
      override get runtimeType(): string {
        return 'number'
      }
      override convertToJSValue = (value: string): number => Number(value)
      override convertToDatabaseValue = String
      override getColumnType = (): string => 'text'
    }
    class OfColumn extends Type<string, string> {
      override getColumnType = (): string => 'varchar(20)'
    }
    class Silent extends OfColumn {
      override convertToJSValue = (value: string): string => value.toUpperCase()
    }
    class Shown extends Said {
      override toJSON = (value: number): string => `no. ${value}`
    }
    const Coin = defineEntity({
      name: 'Coin',
      properties: {
        id: p.integer().primary(),
        said: p.type(Said),
        column: p.type(OfColumn),
        maybe: p.type(OfColumn).nullable(),
        silent: p.type(Silent),
        shown: p.type(Shown),
      },
    })
    await using engine = await RestEngine.create({ entities: [Coin] })
    const { schemas } = (await engine.openapi({ details: true })).components as unknown as {
      schemas: Record<string, { properties: Record<string, object> }>
    }
    const { id: _, ...described } = schemas['Coin']!.properties
    assert.deepEqual(described, {
      said: { type: 'number' },
      column: { type: 'string' },
      maybe: { type: ['string', 'null'] },
      silent: {},
      shown: {},
    })
  })

  it('says of the classes of a hierarchy alone whose records may be orphans that a change may delete the record', async () => {
    const hierarchy = (name: string): readonly [never, never] => {
      const id = { type: 'integer', primary: true }
      const names = { discriminatorColumn: 'kind', discriminatorMap: { plain: name, big: `Big${name}` } }
      const root = new EntitySchema({ name, ...names, properties: { id, kind: { type: 'string' } } } as never)
      const big = new EntitySchema({ name: `Big${name}`, extends: name, properties: { note: { type: 'string', nullable: true } } } as never)
      return [root as never, big as never]
    }
    const [Part, BigPart] = hierarchy('Part')
    const [Pet, BigPet] = hierarchy('Pet')
    const Other = defineEntity({ name: 'Other', properties: { id: p.integer().primary() } })
    const Holder = defineEntity({
      name: 'Holder',
      properties: {
        id: p.integer().primary(),
        part: () =>
          p
            .oneToOne(BigPart as typeof Other)
            .nullable()
            .owner()
            .orphanRemoval(),
      },
    })
    await using engine = await RestEngine.create({ entities: [Part, BigPart, Pet, BigPet, Holder] })
    const { responses } = (await engine.openapi({ details: true })).components as unknown as { responses: object }
    assert.deepEqual(
      Object.keys(responses).filter(name => name.endsWith('Changed')),
      ['BigPartChanged', 'PartChanged'],
    )
  })
})
