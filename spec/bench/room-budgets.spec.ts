/** Budgets of the rooms of lib/: what `npm run imports` counts, and what it says of a room that has grown. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { listOverBudget, lowerBudgets, measureRoom } from '../../scripts/room-budgets.ts'

const TEXT = `/** Reads a row: it may be one that another program wrote. */
const a = 1 // no head
// Short one.
/**
 * Gives the key.
 *
 * @param it which is not counted
 */
`

describe('the budgets of rooms', () => {
  it('count lines, words of comments and pronouns, without short comments and tags', () => {
    assert.deepEqual(measureRoom([TEXT]), { lines: 8, words: 11, pronouns: (100 * 3) / 11 })
  })

  it('refuse a room that is larger, and say by how much', () => {
    const budgets = { reached: 10, rooms: { a: { lines: 5, words: 50, pronouns: 4 } } }
    const over = listOverBudget(new Map([['a', { lines: 6, words: 50, pronouns: 4.1 }]]), budgets)
    assert.equal(over.length, 2)
    assert.match(over[0]!, /^lib\/a has 6 lines, and at most 5 are allowed/)
    assert.match(over[1]!, /^lib\/a has 4\.1 pronouns in 100 words, and at most 4 are allowed/)
    assert.match(listOverBudget(new Map([['b', { lines: 1, words: 1, pronouns: 0 }]]), budgets)[0]!, /^lib\/b has no budget/)
  })

  it('only fall', () => {
    const budgets = { reached: 250, rooms: { a: { lines: 100, words: 100, pronouns: 4 }, gone: { lines: 1, words: 1, pronouns: 1 } } }
    const rooms = new Map([
      ['a', { lines: 130, words: 31, pronouns: 2.2 }],
      ['b', { lines: 51, words: 10, pronouns: 0 }],
    ])
    assert.deepEqual(lowerBudgets(rooms, 120, budgets), {
      reached: 200,
      rooms: { a: { lines: 100, words: 50, pronouns: 2.5 }, b: { lines: 100, words: 50, pronouns: 0 } },
    })
  })
})
