/**
 * What the types of the client and of the names of resources cost the compiler, in instantiations of types, which are the same on every
 * machine. With 3,450 an entity a program of 100 entities takes three times as long as without a client.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..')
const ENTITIES = 100

/** Entities of eleven properties, in a ring of relations, and calls of a client. */
function writeProgram(entityCount: number, calls: number): string {
  const numbers = Array.from({ length: entityCount }, (_, index) => index)
  const around = (index: number): number => (index + entityCount) % entityCount
  const entities = numbers.map(
    i => `export const E${i} = defineEntity({ name: 'E${i}', properties: {
      id: p.integer().primary(), name${i}: p.string(), age: p.integer().nullable(), at: p.datetime(), vip: p.boolean().default(false),
      role: p.enum(['a', 'b']), secret: p.string().hidden(), amount: p.decimal().scale(2), next: () => p.manyToOne(E${around(i + 1)}),
      previous: () => p.oneToMany(E${around(i - 1)}).mappedBy('next'), others: () => p.manyToMany(E${around(i + 7)}) } })`,
  )
  const uses = numbers.slice(0, calls).map(
    i => `{ const { items } = await api.e${i}.list({ 'age>=': 3, 'next.name${around(i + 1)}~=': 'x*', sort: 'age.desc', expand: ['next'] })
         items[0]!.next.name${around(i + 1)} satisfies string }`,
  )
  return [
    `import { defineEntity, p } from '@mikro-orm/core'`,
    `import { client } from ${JSON.stringify(relativeClient)}`,
    ...entities,
    `const api = client('http://x', { ${numbers.map(i => `e${i}: E${i}`).join(', ')} })`,
    ...uses,
  ].join(';\n')
}

const relativeClient = '../../../lib/model/client/index.ts'

/** The name of an entity in letters alone, whose plural is known. */
function nameEntity(index: number): string {
  return `Entry${[...String(index)].map(digit => 'abcdefghij'[Number(digit)]).join('')}Item`
}

/** A function that takes the names of entities, and calls for each. */
function writeNamedProgram(): string {
  const names = Array.from({ length: ENTITIES }, (_, index) => nameEntity(index))
  const entities = names.map(
    name => `export const ${name} = defineEntity({ name: '${name}', properties: {
      id: p.integer().primary(), title: p.string(), age: p.integer().nullable(), at: p.datetime(), vip: p.boolean().default(false),
      role: p.enum(['a', 'b']), secret: p.string().hidden(), amount: p.decimal().scale(2), next: () => p.manyToOne(${names[0]}),
      previous: () => p.oneToMany(${names[1]}).mappedBy('next'), others: () => p.manyToMany(${names[7]}) } })`,
  )
  const resource = (name: string): string => name.replaceAll(/(?<!^)[A-Z]/g, letter => `_${letter}`).toLowerCase()
  return [
    `import { defineEntity, p } from '@mikro-orm/core'`,
    `import type { ResourceNames } from '../../../lib/model/client/resource-names.ts'`,
    ...entities,
    `declare function given(name: ResourceNames<${names.map(name => `typeof ${name}`).join(' | ')}>): void`,
    ...names.flatMap(name => [`given('${resource(name)}')`, `given('${resource(name)}s')`]),
    `// @ts-expect-error -- no such resource
    given('entry_b_itm')`,
  ].join(';\n')
}

describe('the compiler', { timeout: 600_000 }, () => {
  let folder: string
  before(() => {
    // Inside the repository, so that packages are found, and outside of its sources.
    const cache = join(root, 'node_modules/.cache')
    mkdirSync(cache, { recursive: true })
    folder = mkdtempSync(join(cache, 'type-cost-'))
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  /** Returns how many types the compiler instantiates. */
  function measure(name: string, program: string): number {
    writeFileSync(join(folder, `${name}.ts`), program)
    writeFileSync(
      join(folder, `${name}.json`),
      JSON.stringify({ extends: join(root, 'tsconfig.json'), files: [`${name}.ts`], include: [] }),
    )
    const tsc = join(root, 'node_modules/typescript/bin/tsc')
    const { status, stdout } = spawnSync(
      process.execPath,
      [tsc, '-p', join(folder, `${name}.json`), '--singleThreaded', '--extendedDiagnostics'],
      { encoding: 'utf8' },
    )
    assert.equal(status, 0, stdout)
    return Number(/^Instantiations: +(\d+)$/m.exec(stdout)?.[1])
  }

  function expectCost(limit: number, without: number, own: number): void {
    const each = (own - without) / ENTITIES
    assert.ok(each <= limit, `${each} instantiations an entity: ${own} in all, ${without} without`)
  }

  /**
   * Each thousand instantiations take about three milliseconds of the processor. With 615,000 for 160 entities each costs less than 4,000,
   * with what it costs without a client.
   */
  for (const [entities, calls, limit] of [
    [5, 5, 80_000],
    [200, 60, 330_000],
    [160, 160, 615_000],
  ] as const) {
    it(`instantiates at most ${limit} types for ${entities} entities with ${calls} calls`, () => {
      const own = measure('whole', writeProgram(entities, calls))
      assert.ok(own <= limit, `${own} instantiations`)
    })
  }

  it('instantiates at most 300 types for each entity whose resource is named', () => {
    const without = writeNamedProgram()
      .replace(/ResourceNames<typeof.*>/, 'string')
      .replace(/import type \{ ResourceNames.*/, '')
      .replace(/.*@ts-expect-error.*/, '')
    expectCost(300, measure('plain', without), measure('named', writeNamedProgram()))
  })
})
