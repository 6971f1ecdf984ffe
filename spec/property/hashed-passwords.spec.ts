/**
 * Hashed passwords: in whatever body, nested records included, the plain passwords of users are replaced and nothing else is. The oracle
 * walks the body by the names of this model. Hashes are short texts here: what is made of a password is the matter of other specs.
 */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import * as fc from 'fast-check'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine } from '../../lib/index.ts'
import { internalsOf } from '../../lib/engine/assembly/internals.ts'
import { BodyHashes } from '../../lib/records/validate/hash-passwords.ts'
import { check } from '../helpers/check.ts'

const Place = defineEntity({
  name: 'Place',
  embeddable: true,
  properties: { street: p.string().nullable(), keeper: () => p.manyToOne(User).nullable() },
})
const User = defineEntity({
  name: 'User',
  properties: {
    id: p.integer().primary(),
    password: p.string().length(20).hidden(),
    home: () => p.embedded(Place).nullable(),
    team: () => p.manyToOne(Team).nullable(),
  },
})
const Team = defineEntity({
  name: 'Team',
  properties: { id: p.integer().primary(), password: p.string().nullable(), members: () => p.oneToMany(User).mappedBy('team') },
})
const Tag = defineEntity({ name: 'Tag', properties: { id: p.integer().primary(), password: p.string() } })

const isHash = (text: string): boolean => text.startsWith('#')

const password = fc.oneof(
  fc.constantFrom('secret', '', '#kept', 'x'.repeat(20), 'x'.repeat(21), '\ud800'),
  fc.string({ maxLength: 8 }),
  fc.constantFrom(null, 5, true, ['secret'], { password: 'secret' }),
)
const { body } = fc.letrec<{ user: unknown; team: unknown; body: unknown }>(tie => {
  const member = fc.oneof({ depthSize: 'small', withCrossShrink: true }, fc.nat(9), tie('user'))
  return {
    user: fc.record(
      {
        password,
        pasword: password,
        team: fc.oneof({ depthSize: 'small' }, fc.constant(null), fc.nat(9), tie('team')),
        home: fc.oneof(
          { depthSize: 'small' },
          fc.constant(null),
          fc.record({ street: password, keeper: member }, { requiredKeys: [], noNullPrototype: true }),
        ),
      },
      { requiredKeys: [], noNullPrototype: true },
    ),
    team: fc.record(
      { password, members: fc.oneof(fc.array(member, { maxLength: 3 }), password) },
      { requiredKeys: [], noNullPrototype: true },
    ),
    body: fc.oneof(tie('user'), fc.array(tie('user'), { maxLength: 3 })),
  }
})

type Members = Readonly<Record<string, unknown>>

/** What becomes of a body, by the names that each kind of object has here. */
function expected(value: unknown, kind: 'user' | 'team' | 'home'): unknown {
  if (Array.isArray(value)) return value.map(item => expected(item, kind))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value as Members).map(([name, member]) => {
      if (kind === 'user' && name === 'password') return [name, isPlain(member) ? `#${member}` : member]
      if (kind === 'user' && (name === 'team' || name === 'home')) return [name, expected(member, name)]
      const isUser = (kind === 'team' && name === 'members') || (kind === 'home' && name === 'keeper')
      return [name, isUser ? expected(member, 'user') : member]
    }),
  )
}

function isPlain(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && !isHash(value) && value.isWellFormed() && [...value].length <= 20
}

it('passwords of users are hashed wherever they stand, and nothing else is (property)', async () => {
  await using engine = await RestEngine.create({ entities: [User, Team, Tag] })
  const { model } = internalsOf(engine)
  const users = model.byName.get('users')!
  const kind = { entity: users.entity, property: 'password', hash: async (plain: string) => `#${plain}`, isHash }
  const hashes = new BodyHashes(kind, users, model)
  await check(
    fc.asyncProperty(body, async given => {
      const before = structuredClone(given)
      const hashed = await hashes.inBody(given, users)
      assert.deepEqual(hashed, expected(given, 'user'))
      assert.deepEqual(given, before)
      assert.equal(await hashes.inBody(hashed, users), hashed, 'nothing is hashed twice')
      const seed = { users: Array.isArray(given) ? (given as object[]) : [given as object], tags: [{ password: 'secret' }] }
      assert.deepEqual(await hashes.inSeed(seed, model), { users: expected(seed.users, 'user'), tags: seed.tags })
    }),
    { label: 'hashed passwords', runs: 300 },
  )
})
