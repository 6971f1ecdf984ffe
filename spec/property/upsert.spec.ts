/** Upsert against the oracle: the record with these values is changed, and nothing else; without one, exactly one comes. */
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { it } from 'node:test'
import { check, costly } from '../helpers/check.ts'
import { users } from './world/entities.ts'
import { eachWorld } from './world/harness.ts'

eachWorld('upsert', { count: 1, size: 8 }, ({ rows, engine, list }) => {
  const emails = rows(users).map(({ values }) => values['email'] as string)
  const email = fc.oneof(fc.constantFrom('new@x', ...emails), fc.string({ minLength: 1, maxLength: 3 }))
  const drawn = fc.uniqueArray(
    email.filter(text => !text.includes('\0') && text.isWellFormed()),
    { minLength: 1, maxLength: 4 },
  )

  it('changes what exists, and creates what does not', () =>
    check(
      fc.asyncProperty(drawn, async given => {
        const before = await engine().snapshot()
        const bodies = given.map((each, index) => ({ email: each, age: 500 + index }))
        const { status, body } = await engine().handle('POST', '/v1/users?upsert=email&attributes=email,age', undefined, bodies)
        assert.equal(status, 200, JSON.stringify(body))
        assert.deepEqual((body as { users: unknown }).users, bodies)
        const { records, count } = await list('/v1/users', [['limit', '1000']])
        assert.equal(count, new Set([...emails, ...given]).size)
        for (const { values } of rows(users)) {
          const now = records.find(({ email: found }) => found === values['email'])!
          const index = given.indexOf(values['email'] as string)
          assert.deepEqual([now['id'], now['age'], now['name']], [values['id'], index < 0 ? values['age'] : 500 + index, values['name']])
        }
        await engine().restore(before)
      }),
      { label: 'upsert', runs: costly(30) },
    ))
})
