/** Rows that stand against an evolution, named in the error by key and value; long keys and values are cut. */
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { describeEvolved } from './evolved.ts'

const TEXT = 'a text of some sixty characters, which nobody wants to read whole'
const CUT = '"a text of some sixty characters, whic…"'

describeEvolved('refused rows', (make, isServer) => {
  const integer = isServer ? 'int' : 'integer'

  it('are named by their key, and by the value that does not fit, whose quotes and parenthesis are closed', async () => {
    await using own = make()
    const properties = { id: p.integer().primary(), a: p.text() }
    const seed = { things: [TEXT, '5', 'five', `${'x'.repeat(36)}""`].map((a, index) => ({ id: index + 1, a })) }
    await own.evolve([defineEntity({ name: 'Thing', properties })], { seed })
    const Next = defineEntity({ name: 'Thing', properties: { ...properties, a: p.integer() } })
    const last = String.raw`${'x'.repeat(36)}\"\"`
    await own.refuse([Next], {}, `thing.a cannot become "${integer}" in 3 rows: id 1 (${CUT}), 3 ("five"), 4 ("${last}")`)
  })

  it('are named by a long key and a long value, each cut by itself', async () => {
    await using own = make()
    const properties = { one: p.text().primary(), two: p.integer().primary(), a: p.text() }
    await own.evolve([defineEntity({ name: 'Thing', properties })], { seed: { things: [{ one: TEXT, two: 7, a: TEXT }] } })
    const Next = defineEntity({ name: 'Thing', properties: { ...properties, a: p.integer() } })
    const key = 'a text of some sixty characters, which …~7'
    await own.refuse([Next], {}, `thing.a cannot become "${integer}" in 1 row: one~two ${key} (${CUT})`)
  })

  it('are named by a long value that must be unique', async () => {
    await using own = make()
    const properties = { id: p.integer().primary(), a: p.text() }
    await own.evolve([defineEntity({ name: 'Thing', properties })], { seed: { things: [{ a: TEXT }, { a: TEXT }] } })
    const Next = defineEntity({ name: 'Thing', properties: { ...properties, a: p.text().unique() } })
    await own.refuse([Next], {}, `rows of "thing" have the same a, which must be unique: ${CUT} in id 1, 2`)
  })
})
