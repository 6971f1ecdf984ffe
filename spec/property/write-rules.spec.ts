/**
 * Rules for writing: no row outside of what a caller may write ever changes, as it was and as it becomes, whatever the request and
 * whichever way it is written. The rows are read and judged by SQL and functions of this spec.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { RestEngine } from '../../lib/index.ts'
import { check } from '../helpers/check.ts'
import { WRITABLE, clubRules, ruledRequests } from './world/club-rules.ts'
import { CLUBS, Clubs } from './world/clubs.ts'
import type { Request } from './world/ways-of-writing.ts'

type Row = Readonly<Record<string, unknown>>
type Rows = ReadonlyMap<string, Row>

/** Rows by their keys, by the name of their entity. */
type Content = ReadonlyMap<string, Rows>

/** Tables of many-to-many lists of clubs, and the tables of their members. */
const LISTS: readonly (readonly [string, string])[] = [
  ['club_tags', 'Tag'],
  ['club_sponsors', 'Tag'],
  ['club_friends', 'Club'],
  ['fan', 'Player'],
]

async function readAll({ orm }: RestEngine): Promise<Content> {
  const ask = (sql: string): Promise<Row[]> => orm.em.getConnection().execute(sql)
  const content = new Map<string, Rows>()
  for (const name of Object.keys(WRITABLE)) {
    const rows = await ask(`select * from "${name.toLowerCase()}"`)
    content.set(name, new Map(rows.map(row => [String(row['id']), row])))
  }
  for (const [table] of LISTS) {
    const rows = await ask(`select * from "${table}"`)
    // The position in a list is the order of insertion.
    const links = rows.map(row => Object.fromEntries(Object.entries(row).filter(([column]) => column !== 'id')))
    content.set(table, new Map(links.map(link => [Object.values(link).join(), link])))
  }
  return content
}

/** Returns what has changed that may not. */
function findBroken(before: Content, after: Content): string[] {
  const broken: string[] = []
  for (const [name, { holds }] of Object.entries(WRITABLE)) {
    const [old, now] = [before.get(name)!, after.get(name)!]
    for (const key of new Set([...old.keys(), ...now.keys()])) {
      const [was, is] = [old.get(key), now.get(key)]
      if (JSON.stringify(was) === JSON.stringify(is)) continue
      for (const [row, when] of [
        [was, 'before'],
        [is, 'after'],
      ] as const)
        if (row !== undefined && !holds(row)) broken.push(`${name} ${key} ${when}: ${JSON.stringify([was, is])}`)
    }
  }
  for (const [table, member] of LISTS) broken.push(...findBrokenLinks(table, member, before, after))
  return broken
}

/** A link belongs to the club on its owning side; one whose member has gone goes with that. */
function findBrokenLinks(table: string, member: string, before: Content, after: Content): string[] {
  const [old, now] = [before.get(table)!, after.get(table)!]
  const changed = [...new Set([...old.keys(), ...now.keys()])].filter(key => old.has(key) !== now.has(key))
  return changed.flatMap(key => {
    const row = old.get(key) ?? now.get(key)!
    const [owner, other] = Object.entries(row).filter(
      ([column]) => column.endsWith('_id') || column.includes('_1') || column.includes('_2'),
    )
    const [club, linked] = [String(owner![1]), String(other![1])]
    if (!after.get(member)!.has(linked) || !after.get('Club')!.has(club)) return []
    const rows = [before, after].map(content => content.get('Club')!.get(club))
    return rows.flatMap(each =>
      each === undefined || WRITABLE['Club']!.holds(each) ? [] : [`${table} ${key}: club ${JSON.stringify(each)}`],
    )
  })
}

const restricted = ruledRequests.map((request): Request => ({ ...request, headers: { ...request.headers, 'x-own': '1' } }))

describe('rules for writing', () => {
  for (const [way, orm] of [
    ['statements', {}],
    ['the unit of work', { subscribers: [{ afterFlush: () => {} }] }],
  ] as const) {
    it(`hold for each row that a request touches, written by ${way}`, async () => {
      let [changed, refused] = [0, 0]
      const { entities } = new Clubs()
      await using origin = await RestEngine.create({
        entities: entities as never,
        seed: CLUBS,
        resources: clubRules(entities) as never,
        clock: () => new Date('2026-01-01T00:00:00Z'),
        orm,
      })
      await check(
        fc.asyncProperty(fc.array(restricted, { minLength: 10, maxLength: 25, size: 'max' }), async asked => {
          await using engine = await origin.fork()
          for (const { method, path, body, headers } of asked) {
            const before = await readAll(engine)
            const { status, body: answer } = await engine.handle(method, path, {}, body, { headers: headers! })
            const after = await readAll(engine)
            assert.notEqual(status, 500)
            assert.deepEqual(findBroken(before, after), [], `${method} ${path} ${JSON.stringify(body)} ${JSON.stringify(headers)}`)
            if (/may not change|may write/.test(String(answer.detail))) {
              refused++
              assert.equal(status, 403)
              assert.deepEqual(after, before)
            } else if (status === 200) changed++
          }
        }),
        { label: `rules for writing, ${way}`, runs: 40 },
      )
      assert.ok(changed > 20 && refused > 10, `${changed} changed, ${refused} refused`)
    })
  }
})
