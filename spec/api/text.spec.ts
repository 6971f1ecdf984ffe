/** Text is data, whatever is in it: stored, read back and found again, by the API and by MikroORM's own statements. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import { describeTargets } from '../helpers/targets.ts'
import type { Target } from '../helpers/targets.ts'

const Label = defineEntity({
  name: 'Label',
  embeddable: true,
  properties: { caption: p.string(), extra: p.json<unknown>().nullable() },
})
const Note = defineEntity({
  name: 'Note',
  properties: {
    id: p.integer().primary(),
    text: p.text(),
    title: p.string().nullable(),
    count: p.integer().nullable(),
    ratio: p.float().nullable(),
    data: p.json<unknown>().nullable(),
    inline: () => p.embedded(Label).nullable(),
    boxed: () => p.embedded(Label).object().nullable(),
    parent: () => p.manyToOne(Note).nullable(),
    children: () => p.oneToMany(Note).mappedBy('parent'),
    tags: () => p.manyToMany(Tag),
  },
})
const Tag = defineEntity({ name: 'Tag', properties: { name: p.string().primary() } })
const model = { entities: [Note, Tag, Label] }

const texts: [what: string, text: string][] = [
  ['NUL', 'a\0b'],
  ['NUL alone', '\0'],
  ['NUL at the ends', '\0a\0'],
  ['quotes', `'"\`''""`],
  ['one question mark', 'what?'],
  ['question marks', '? ?? ??? ?1 :a @b $c'],
  ['a quoted question mark', `'?' "?" '??'`],
  ['backslashes', "\\ \\\\ \\? \\?? \\0 \\n \\'"],
  ['SQL', `'); drop table note; --`],
  ['comments', '-- /* */ #'],
  ['line ends', 'a\nb\r\nc\u2028d'],
  ['control characters', '\u0001\u0007\u001b\u007f\u0085'],
  ['astral characters', '🦊👩‍👩‍👧𐍈\u{10ffff}'],
  ['combining characters', 'e\u0301 \u00e9'],
  ['right-to-left and invisible ones', '\u202eabc\u200b\ufeff'],
  ['noncharacters', '\ufffe\uffff\ufffd'],
  ['JSON', '{"a": [1, "\\u0000"]}'],
  ['what looks like a number', '007.50'],
  ['what looks like a large number', '12345678901234567890'],
  ['what looks like a date', '2026-01-01'],
  ['null as a word', 'null'],
  ['markers of an ORM', '[::alias::] ?? raw() $$ ${x} {{y}} %s %d'],
  ['much', "ab\0?'\\🦊".repeat(5_000)],
]

/** The value of a filter that means the text and nothing else. */
function literal(text: string): string {
  return text === 'null' ? '\\null' : text.replaceAll(/[\\,*]/g, '\\$&')
}

async function ids(target: Target, query: Record<string, string>): Promise<unknown[]> {
  const { status, body } = await target.call('GET', '/v1/notes', { ...query, attributes: 'id' })
  assert.equal(status, 200, JSON.stringify(body).slice(0, 500))
  return (body.notes as { id: unknown }[]).map(({ id }) => id)
}

/** NUL cannot be in a query or a path (400), so a text with one is found by what is around it. */
/** A text for a key, which paths have to lead to. */
const nameOf = (text: string): string => text.slice(0, 100).replaceAll('\0', '0')
const hasNul = (text: string): boolean => text.includes('\0')

describeTargets('text', model, target => {
  for (const [what, text] of texts) {
    it(`may hold ${what}`, target.except(hasNul(text) && 'NUL'), async () => {
      const label = { caption: text, extra: { [text.slice(0, 50)]: [text] } }
      const body = {
        text,
        title: text,
        count: 5,
        ratio: 5,
        data: { text, list: [text, { deep: text }], [text.slice(0, 50)]: 1 },
        inline: label,
        boxed: label,
        children: [
          { text: `1${text}`, tags: [{ name: nameOf(text) }] },
          { text: `2${text}`, count: 7 },
        ],
      }
      const made = await target.call('POST', '/v1/notes', undefined, body)
      assert.equal(made.status, 200, JSON.stringify(made.body).slice(0, 500))
      const { id, text: shown, title, data, inline, boxed, count, ratio } = made.body.note
      assert.deepEqual(
        { text: shown, title, data, inline, boxed, count, ratio },
        { text, title: text, data: body.data, inline: label, boxed: label, count: 5, ratio: 5 },
      )
      assert.deepEqual((await target.call('GET', `/v1/notes/${id as number}`)).body.note, made.body.note)

      const changed = await target.call('PUT', `/v1/notes/${id as number}`, undefined, {
        text: `${text}!`,
        data: [text],
        inline: { caption: `${text}!` },
        boxed: { caption: `${text}!` },
      })
      assert.equal(changed.status, 200, JSON.stringify(changed.body).slice(0, 500))
      assert.equal(changed.body.note.text, `${text}!`)
      assert.deepEqual(changed.body.note.data, [text])
      assert.equal(changed.body.note.inline.caption, `${text}!`)
      assert.equal(changed.body.note.boxed.caption, `${text}!`)
      assert.equal((await target.call('PUT', `/v1/notes/${id as number}/text`, undefined, text)).body.note.text, text)
    })

    if (!hasNul(text)) {
      it(`with ${what} is found again`, async () => {
        const rows = [{ text }, { text: `x${text}y` }, { text: 'other' }]
        for (const row of rows) await target.call('POST', '/v1/notes', undefined, row)
        assert.deepEqual(await ids(target, { text: literal(text) }), [1])
        assert.deepEqual(await ids(target, { '!text': literal(text) }), [2, 3])
        assert.deepEqual(await ids(target, { text: `*${literal(text)}*` }), [1, 2])
        assert.deepEqual(await ids(target, { text: `x${literal(text)}*` }), [2])
        assert.deepEqual(await ids(target, { text: `${literal(text)},other` }), [1, 3])
        assert.deepEqual(await ids(target, { 'text~=': literal(text) }), [1])
      })
    }
  }

  it('is filtered by what stands around a NUL', target.except('NUL'), async () => {
    for (const text of ['a\0b', 'a\0c', 'a', 'ab', '\0']) await target.call('POST', '/v1/notes', undefined, { text })
    assert.deepEqual(await ids(target, { text: 'a*' }), [1, 2, 3, 4])
    assert.deepEqual(await ids(target, { text: 'a*b' }), [1, 4])
    assert.deepEqual(await ids(target, { text: '*c' }), [2])
    assert.deepEqual(await ids(target, { text: 'a' }), [3])
    assert.deepEqual(await ids(target, { '!text': 'a' }), [1, 2, 4, 5])
    assert.deepEqual(await ids(target, { 'text~=': 'A*C' }), [2])
    assert.deepEqual(await ids(target, { 'text>': 'a' }), [1, 2, 4])
    assert.deepEqual(await ids(target, { sort: 'text' }), [5, 3, 1, 2, 4])
  })

  for (const text of ['\ud800', 'a\udc00', '\udc00\ud800', 'x\ud83e']) {
    it(`cannot hold a lone surrogate (${JSON.stringify(text)})`, async () => {
      for (const body of [
        { text },
        { text: 'x', title: text },
        { text: 'x', inline: { caption: text } },
        { text: 'x', boxed: { caption: text } },
      ]) {
        const answer = await target.call('POST', '/v1/notes', undefined, body)
        assert.equal(answer.status, 422)
        assert.equal(answer.body.errors[0].code, 'value_invalid')
      }
      assert.equal((await target.call('POST', '/v1/tags', undefined, { name: text })).status, 422)
      assert.equal((await target.call('GET', '/v1/notes', { limit: 0 })).body.count, 0)
    })
  }
})

describeTargets("text in MikroORM's own statements", model, target => {
  for (const [what, text] of texts) {
    it(`may hold ${what}`, target.except(hasNul(text) && 'NUL'), async () => {
      const { em } = target.engine.orm
      const name = text.slice(0, 100)
      {
        const inner = em.fork()
        const tag = inner.create(Tag, { name })
        for (const suffix of ['', '1', '2'])
          inner.create(Note, {
            text: text + suffix,
            title: text,
            count: 3,
            ratio: 3,
            data: { text },
            boxed: { caption: text, extra: null },
            tags: [tag],
          })
        await inner.flush()
      }
      {
        const inner = em.fork()
        const found = await inner.find(Note, { text }, { populate: ['tags'] })
        assert.deepEqual(
          found.map(note => [note.id, note.title, note.data, note.boxed?.caption, note.tags.getItems().map(tag => tag.name)]),
          [[1, text, { text }, text, [name]]],
        )
        const several = await inner.find(Note, { text: { $in: [text, `${text}1`, 'x'] }, title: { $ne: 'x' } }, { orderBy: { id: 'asc' } })
        assert.deepEqual(
          several.map(({ id }) => id),
          [1, 2],
        )
        // A change of several rows at once is one statement of another form.
        for (const note of several) note.title = `${text}${note.id}`
        await inner.flush()
      }
      {
        const inner = em.fork()
        assert.equal(await inner.nativeUpdate(Note, { text: `${text}2` }, { title: text, count: 4 }), 1)
        assert.equal(await inner.nativeDelete(Note, { text: `${text}1` }), 1)
        const upserted = await inner.upsert(Tag, { name })
        assert.equal(upserted.name, name)
      }
      const { body } = await target.call('GET', '/v1/notes', { sort: 'id' })
      assert.deepEqual(
        (body.notes as { id: number; title: string; count: number }[]).map(({ id, title, count }) => [id, title, count]),
        [
          [1, `${text}1`, 3],
          [3, text, 4],
        ],
      )
    })
  }

  it('keeps the types of numbers beside it', target.except('NUL'), async () => {
    const inner = target.engine.orm.em.fork()
    inner.create(Note, { text: 'a?', title: '5.0', count: 5, ratio: 5, data: 5 })
    inner.create(Note, { text: 'a\0', title: '5', count: -1, ratio: 0.5, data: '5' })
    await inner.flush()
    const rows = await inner
      .getConnection()
      .execute('select typeof(text) as a, typeof(title) as b, title, typeof(count) as c, typeof(ratio) as d from note order by id')
    assert.deepEqual(
      rows.map((row: object) => ({ ...row })),
      [
        { a: 'text', b: 'text', title: '5.0', c: 'integer', d: 'real' },
        { a: 'text', b: 'text', title: '5', c: 'integer', d: 'real' },
      ],
    )
    const { body } = await target.call('GET', '/v1/notes', { sort: 'id' })
    assert.deepEqual(
      (body.notes as { data: unknown }[]).map(({ data }) => data),
      [5, '5'],
    )
  })
})
