/**
 * Checks that requests of one tenant are answered alike beside any data of another tenant: nothing of the other shows, not even its
 * existence.
 */
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine, auth, hashPassword, resource } from '../../lib/index.ts'
import type { Place } from './places.ts'
import { answered, pick, random } from './tally.ts'
import type { Check, Counter, Plan } from './tally.ts'

const Member = defineEntity({
  name: 'Member',
  properties: { id: p.integer().primary(), email: p.string(), password: p.string().hidden(), tenant: p.integer() },
})
const Board = defineEntity({
  name: 'Board',
  properties: {
    id: p.integer().primary(),
    tenant: p.integer(),
    name: p.string(),
    cards: () => p.oneToMany(Card).mappedBy('board'),
    labels: () => p.manyToMany(Label),
  },
})
const Card = defineEntity({
  name: 'Card',
  properties: {
    id: p.integer().primary(),
    tenant: p.integer(),
    name: p.string(),
    points: p.integer(),
    board: () => p.manyToOne(Board).nullable(),
  },
})
const Label = defineEntity({
  name: 'Label',
  properties: { id: p.integer().primary(), tenant: p.integer(), name: p.string(), boards: () => p.manyToMany(Board).mappedBy('labels') },
})

const HASH = await hashPassword('trust')
const own = (ctx: { user?: unknown }) => ({ tenant: (ctx.user as { tenant?: number } | undefined)?.tenant ?? 0 })

/**
 * Creates the records of both tenants. Those of the first, which link to the second's, are always the same; those of the second are
 * random.
 */
async function world(next: () => number, { database }: Place): Promise<RestEngine> {
  const ids = [11, 12, 13, 14, 15]
  const tenant = (id: number): number => (id % 2 === 0 ? 2 : 1)
  const named = (id: number): string => (tenant(id) === 1 ? `own ${id}` : pick(next, ['alpha', 'beta', 'own 11', 'zeta']))
  return RestEngine.create({
    entities: [Member, Board, Card, Label],
    ...(database === undefined ? {} : { database }),
    clock: () => new Date('2026-01-01T00:00:00.000Z'),
    limits: { timeout: 0 },
    auth: auth({ entity: Member, secret: 'trust' }),
    resources: [
      resource(Member, { access: false }),
      resource(Board, { scope: own }),
      resource(Card, { scope: own }),
      resource(Label, { scope: own }),
    ],
    seed: {
      members: [{ id: 1, email: 'a@example.test', password: HASH, tenant: 1 }],
      labels: ids.map(id => ({ id, tenant: tenant(id), name: named(id) })),
      boards: ids.map(id => ({
        id,
        tenant: tenant(id),
        name: named(id),
        labels: ids.filter(other => tenant(other) === 1 || next() < 0.5),
      })),
      cards: [...ids, 16, 17, 18].map(id => ({
        id,
        tenant: tenant(id),
        name: named(id),
        points: tenant(id) === 1 ? id : Math.floor(next() * 50),
        board: tenant(id) === 1 ? pick(() => ((id * 7) % 5) / 5, ids) : pick(next, ids),
      })),
    },
  })
}

const PATHS = [
  'name',
  'cards.name',
  'labels.name',
  'board.name',
  'cards.points',
  'labels',
  'cards',
  'board',
  'points',
  'boards.name',
  'board.labels.name',
  'boards.cards.points',
]
const VALUES = ['alpha', '*a*', 'null', '11', '12', '14', 'own*', '7', '1', 'zeta,beta']

function request(next: () => number): [method: string, path: string, body: unknown] {
  const resourceName = pick(next, ['boards', 'cards', 'labels'])
  const id = next() < 0.4 ? `/${pick(next, [11, 12, 13, 14, 15, 16, 99])}` : ''
  const attribute = id !== '' && next() < 0.4 ? `/${pick(next, ['cards', 'labels', 'board', 'boards', 'name'])}` : ''
  const parameters: string[] = []
  if (next() < 0.6)
    parameters.push(`${next() < 0.3 ? '!' : ''}${pick(next, PATHS)}${pick(next, ['=', '=', '~=', '>='])}${pick(next, VALUES)}`)
  if (next() < 0.5) parameters.push(`sort=${pick(next, PATHS)}${pick(next, ['', '.desc'])}`)
  if (next() < 0.5) parameters.push(`expand=${pick(next, ['cards', 'labels', 'board', 'boards', 'cards.board', 'labels.boards'])}`)
  if (next() < 0.3) parameters.push(`depth=${pick(next, [0, 1, 2])}`)
  const method = next() < 0.75 ? 'GET' : pick(next, ['PUT', 'DELETE', 'POST'])
  const body = pick<unknown>(next, [
    { name: 'changed' },
    { cards: [12, 11] },
    { labels: [] },
    { board: 14 },
    { board: 13 },
    { tenant: 2 },
    { name: 'new', points: 1, tenant: 1, board: 12 },
    [],
  ])
  return [method, `/v1/${resourceName}${id}${attribute}${parameters.length === 0 ? '' : `?${parameters.join('&')}`}`, body]
}

async function run(counter: Counter, { seed, scale, place }: Plan): Promise<void> {
  const next = random(seed)
  const rounds = Math.max(1, Math.round(10 * scale))
  const statuses = new Map<number, number>()
  for (let round = 0; round < rounds; round++) {
    await using own = await place()
    await using other = await place()
    const pair = [await world(random(seed + round), own), await world(random(seed + 10_000 + round), other)] as const
    const tokens = pair.map(engine => engine.token(1, { ttl: 1e6 }))
    const starts = [await pair[0].snapshot(), await pair[1].snapshot()] as const
    for (let index = 0; index < 500 * Math.min(1, scale * 10); index++) {
      if (index % 20 === 19) for (const [at, engine] of pair.entries()) await engine.restore(starts[at as 0 | 1])
      const [method, path, body] = request(next)
      const [one, another] = await Promise.all(
        pair.map(async (engine, at) => {
          const { status, body: answer } = await engine.handle(method, path, undefined, body, {
            headers: { authorization: `Bearer ${tokens[at]!}` },
          })
          statuses.set(status, (statuses.get(status) ?? 0) + 1)
          return JSON.stringify([status, answer])
        }),
      )
      counter.ok(one === another, () => `${method} ${path} ${JSON.stringify(body)}\n${one}\n${another}`)
    }
    for (const engine of pair) await engine.close()
  }
  counter.note = answered(statuses)
}

export const tenants: Check = { name: "another tenant's data does not show", what: 'pairs of requests', isOfServers: true, run }
