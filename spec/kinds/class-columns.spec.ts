/**
 * Classes of one table that call a column by names of their own, or have lists of one name: each record is found, sorted and written by
 * what its class has.
 */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { createEngine, describeStores } from '../helpers/stores.ts'

const Owner = defineEntity({
  name: 'Owner',
  properties: { id: p.integer().primary(), name: p.string(), pets: () => p.oneToMany(Pet).mappedBy('owner') },
})
const Pet = defineEntity({
  name: 'Pet',
  discriminatorColumn: 'kind',
  discriminatorMap: { cat: 'Cat', dog: 'Dog', fish: 'Fish' } as never,
  abstract: true,
  properties: {
    id: p.integer().primary(),
    kind: p.enum(['cat', 'dog', 'fish']),
    owner: () => p.manyToOne(Owner).inversedBy('pets').nullable(),
  },
})
const Cat = defineEntity({
  name: 'Cat',
  extends: Pet,
  properties: {
    lives: p.integer().fieldName('number').nullable(),
    size: p.integer().fieldName('cat_size').nullable(),
    friend: () => p.manyToOne(Owner).joinColumn('person').nullable(),
    toys: () => p.oneToMany(Toy).mappedBy('cat'),
  },
})
const Dog = defineEntity({
  name: 'Dog',
  extends: Pet,
  properties: {
    tricks: p.integer().fieldName('number').nullable(),
    size: p.integer().fieldName('dog_size').nullable(),
    walker: () => p.manyToOne(Owner).joinColumn('person').nullable(),
    toys: () => p.oneToMany(Bone).mappedBy('dog'),
  },
})
const Fish = defineEntity({ name: 'Fish', extends: Pet, properties: { depth: p.float().nullable() } })
const Toy = defineEntity({
  name: 'Toy',
  properties: { id: p.integer().primary(), name: p.string(), cat: () => p.manyToOne(Cat).inversedBy('toys') },
})
const Bone = defineEntity({
  name: 'Bone',
  properties: { id: p.integer().primary(), name: p.string(), dog: () => p.manyToOne(Dog).inversedBy('toys') },
})

const seed = {
  owners: [
    { id: 1, name: 'Ann' },
    { id: 2, name: 'Bob' },
  ],
  // One unit of work inserts them all.
  pets: [
    { id: 1, kind: 'cat', lives: 3, size: 4, owner: 1, friend: 2 },
    { id: 2, kind: 'dog', tricks: 3, size: 9, walker: 2 },
    { id: 3, kind: 'cat', lives: 9, friend: 1 },
    { id: 4, kind: 'dog', tricks: 5, owner: 2, size: 4 },
    { id: 5, kind: 'cat' },
    { id: 6, kind: 'dog', walker: 1 },
    { id: 7, kind: 'fish', depth: 3 },
  ],
  toys: [
    { id: 1, name: 'ball', cat: 1 },
    { id: 2, name: 'mouse', cat: 1 },
    { id: 3, name: 'ball', cat: 5 },
  ],
  bones: [
    { id: 1, name: 'ball', dog: 2 },
    { id: 4, name: 'rib', dog: 4 },
  ],
}

type Shown = Readonly<Record<string, unknown>>
const NAMES: Readonly<Record<number, string>> = { 1: 'Ann', 2: 'Bob' }

/** What is found, by what records show: a class that lacks an attribute has NULL there. */
const FILTERS: Readonly<Record<string, (pet: Shown) => boolean>> = {
  'lives=3': ({ lives }) => lives === 3,
  'tricks=3': ({ tricks }) => tricks === 3,
  'lives=null': ({ lives = null }) => lives === null,
  'tricks=null': ({ tricks = null }) => tricks === null,
  '!lives=3,null': ({ lives = null }) => lives !== 3 && lives !== null,
  'lives>=3': ({ lives = null }) => Number(lives) >= 3,
  'lives|tricks=5,9': ({ lives, tricks }) => lives === 9 || tricks === 5,
  'size=4': ({ size }) => size === 4,
  'size>4': ({ size }) => Number(size ?? 0) > 4,
  'size=null': ({ size = null }) => size === null,
  'friend=2': ({ friend }) => friend === 2,
  'walker=2': ({ walker }) => walker === 2,
  'friend=null': ({ friend = null }) => friend === null,
  'friend.name=Bob': ({ friend }) => NAMES[friend as number] === 'Bob',
  'walker.name=null': ({ walker }) => NAMES[walker as number] === undefined,
  'toys=1': ({ toys = [] }) => (toys as number[]).includes(1),
  'toys=4': ({ toys = [] }) => (toys as number[]).includes(4),
  'toys=null': ({ toys = [] }) => (toys as number[]).length === 0,
  '!toys=3': ({ toys = [] }) => !(toys as number[]).includes(3),
  'toys.name=ball': ({ id }) => [1, 2, 5].includes(id as number),
  'depth_=3': ({ depth }) => depth === 3,
}

const SORTS: Readonly<Record<string, (pet: Shown) => number | string | null>> = {
  lives: ({ lives = null }) => lives as number,
  tricks: ({ tricks = null }) => tricks as number,
  size: ({ size = null }) => size as number,
  friend: ({ friend = null }) => Number(friend !== null),
  'friend.name': ({ friend }) => NAMES[friend as number] ?? null,
  'walker.name': ({ walker }) => NAMES[walker as number] ?? null,
  toys: ({ toys = [] }) => (toys as number[]).length,
}

describeStores('classes of one table with names of their own for a column', () => {
  const entities = [Owner, Pet, Cat, Dog, Fish, Toy, Bone]
  const list = async (engine: Awaited<ReturnType<typeof createEngine>>, query: string, plural = 'pets'): Promise<Shown[]> => {
    const { status, body } = await engine.handle('GET', `/v1/${plural}?${query}`)
    assert.equal(status, 200, JSON.stringify(body))
    return body[plural]
  }

  it('are found and sorted by what they show', async () => {
    await using engine = await createEngine({ entities, seed })
    const all = await list(engine, '')
    for (const [query, meets] of Object.entries(FILTERS)) {
      assert.deepEqual(await list(engine, query), all.filter(meets), query)
      const complement = query.startsWith('!') ? query.slice(1) : `!${query}`
      if (!query.includes('=null') && !query.includes('depth'))
        assert.deepEqual(
          await list(engine, complement),
          all.filter(pet => !meets(pet)),
          complement,
        )
    }
    for (const [key, valueOf] of Object.entries(SORTS)) {
      const sorted = all.toSorted((a, b) => {
        const [x, y] = [valueOf(a), valueOf(b)]
        return x === y ? 0 : x === null || (y !== null && x < y) ? -1 : 1
      })
      assert.deepEqual(
        (await list(engine, `sort=${key}`)).map(({ id }) => id),
        sorted.map(({ id }) => id),
        key,
      )
    }
    assert.deepEqual(
      (await list(engine, 'pets.tricks=5', 'owners')).map(({ id }) => id),
      [2],
    )
    assert.deepEqual(
      (await list(engine, 'pets.lives=5', 'owners')).map(({ id }) => id),
      [],
    )
    assert.deepEqual(
      (await list(engine, 'sort=pets.tricks.desc', 'owners')).map(({ id }) => id),
      [2, 1],
    )
    assert.deepEqual(
      (await list(engine, 'sort=pets.lives.desc', 'owners')).map(({ id }) => id),
      [1, 2],
    )
    assert.deepEqual(
      (await list(engine, 'sort=pets.toys.desc', 'owners')).map(({ id }) => id),
      [1, 2],
    )
  })

  it('keep what each has, whatever a unit of work inserts and updates together', async () => {
    await using engine = await createEngine({ entities, seed })
    const shown = (await list(engine, '')).map(({ id, lives, tricks, size, friend, walker }) => ({
      id,
      lives,
      tricks,
      size,
      friend,
      walker,
    }))
    assert.deepEqual(
      shown,
      seed.pets.map(({ id, kind, ...pet }) => {
        const { lives = null, tricks = null, size = null, friend = null, walker = null } = pet as Shown
        const missing = { lives: undefined, tricks: undefined, friend: undefined, walker: undefined }
        return {
          id,
          ...missing,
          ...(kind === 'cat' ? { lives, size, friend } : kind === 'dog' ? { tricks, size, walker } : { size: undefined }),
        }
      }),
    )
    const em = engine.orm.em.fork()
    const [cats, dogs] = [await em.findAll(Cat), await em.findAll(Dog)]
    for (const cat of cats) cat.lives = 10 + cat.id
    for (const dog of dogs) dog.tricks = 20 + dog.id
    await em.flush()
    assert.deepEqual(
      (await list(engine, 'kind=cat,dog')).map(({ lives, tricks }) => lives ?? tricks),
      [11, 22, 13, 24, 15, 26],
    )
    const { body } = await engine.handle('PUT', '/v1/owners/1', undefined, {
      pets: [
        { kind: 'dog', tricks: 1 },
        { kind: 'cat', lives: 2 },
        { kind: 'dog', tricks: 3 },
      ],
    })
    const own = await list(engine, `owner=${body.owner.id}`)
    assert.deepEqual(
      own.map(({ lives, tricks }) => lives ?? tricks),
      [1, 2, 3],
    )
  })
})
