/** Custom types that store a number or a boolean for each of their words: filters take the words, as bodies do, and nothing else. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Type, defineEntity, p } from '@mikro-orm/core'
import { createEngine, describeStores } from '../helpers/stores.ts'

const WORDS = ['low', 'mid', 'high']

class Level extends Type<string | null, number | null> {
  override convertToDatabaseValue(value: string | null): number | null {
    return value === null ? null : WORDS.indexOf(value)
  }
  override convertToJSValue(value: number | null): string | null {
    return value === null ? null : WORDS[value]!
  }
  override getColumnType(): string {
    return 'integer'
  }
  override compareAsType(): string {
    return 'number'
  }
}

class Consent extends Type<string | null, boolean | null> {
  override convertToDatabaseValue(value: string | null): boolean | null {
    if (value === 'yes' || value === 'no') return value === 'yes'
    if (value === null) return null
    throw new TypeError('yes or no')
  }
  override convertToJSValue(value: boolean | number | null): string | null {
    return value === null ? null : value ? 'yes' : 'no'
  }
  override getColumnType(): string {
    return 'boolean'
  }
  override compareAsType(): string {
    return 'boolean'
  }
}

/** Passes on whatever it is given. */
class Plain extends Type<number, number> {
  override getColumnType(): string {
    return 'integer'
  }
  override compareAsType(): string {
    return 'number'
  }
}

const Task = defineEntity({
  name: 'Task',
  properties: { id: p.integer().primary(), level: p.type(Level), consent: p.type(Consent).nullable(), weight: p.type(Plain) },
})

describeStores('words that are stored as numbers', () => {
  it('are found, compared and sorted by, and refused where they are none', async () => {
    const seed = {
      tasks: [
        { id: 1, level: 'mid', consent: 'yes', weight: 1 },
        { id: 2, level: 'high', consent: 'no', weight: 2 },
        { id: 3, level: 'low', weight: 10 },
      ],
    }
    await using engine = await createEngine({ entities: [Task], seed })
    const found = async (query: string): Promise<unknown> => {
      const { status, body } = await engine.handle('GET', `/v1/tasks?${query}`)
      return status === 200 ? (body.tasks as { id: number }[]).map(({ id }) => id) : body.errors[0].code
    }
    assert.deepEqual(await found('level=mid'), [1])
    assert.deepEqual(await found('level!=mid'), [2, 3])
    assert.deepEqual(await found('level=mid,high'), [1, 2])
    assert.deepEqual(await found('level>=mid'), [1, 2])
    assert.deepEqual(await found('level<mid&sort=level'), [3])
    assert.deepEqual(await found('sort=level'), [3, 1, 2])
    assert.deepEqual(await found('consent=yes'), [1])
    assert.deepEqual(await found('consent=no,null'), [2, 3])
    assert.deepEqual(await found('weight=10'), [3])
    for (const wrong of ['level=none', 'level=7', 'consent=maybe', 'weight=heavy']) assert.equal(await found(wrong), 'value_invalid', wrong)
  })
})
