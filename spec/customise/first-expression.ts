/** Asks, in a thread of its own, for a regular expression before any other condition has had one: the code of expressions is not loaded. */
import { parentPort, workerData } from 'node:worker_threads'
import { defineEntity, p } from '@mikro-orm/core'
import { resource, RestEngine, type Wire } from '../../lib/index.ts'

const place = workerData as string
const Word = defineEntity({
  name: 'Word',
  filters: place === 'filter' ? { own: { name: 'own', cond: () => ({ text: /^A/i }), default: true } } : {},
  properties: {
    id: p.integer().primary(),
    text: p.text(),
    parent: () => p.manyToOne(Word).nullable(),
    parts: () => p.oneToMany(Word).mappedBy('parent'),
    long: () => p.oneToMany(Word).mappedBy('parent').where(place === 'list' ? { text: /^a./ } : {}), // prettier-ignore
  },
})
const wire: Wire = {
  answer: async (_, api) => ({ status: 200, body: (await api.list('words', { where: { $not: { text: { $re: '^b' } } } })).records }),
  refuse: ({ status }) => ({ status }),
}
const rules = {
  scope: resource(Word, { scope: () => ({ $or: [{ text: { $re: '^a' } }] }) }),
  filter: resource(Word, { scope: () => ({ id: { $gt: 0 } }) }),
  write: resource(Word, { write: () => ({ text: /^a$/ }) }),
}

await using engine = await RestEngine.create({
  entities: [Word],
  parameters: { like: (value: string) => ({ text: { $re: value } }) },
  resources: Object.entries(rules).flatMap(([name, rule]) => (name === place ? [rule] : [])),
  wire,
  seed: {
    words: [
      { id: 1, text: 'a' },
      { id: 2, text: 'ab', parent: 1 },
      { id: 3, text: 'b', parent: 1 },
    ],
  },
})
const ids = (records: unknown): number[] => (records as { id: number }[]).map(({ id }) => id)
const list = async (query: object): Promise<unknown> =>
  ids((await engine.handle('GET', '/v1/words', { sort: 'id', ...query })).body['words'])
const asked: Readonly<Record<string, () => Promise<unknown>>> = {
  wire: async () => ids(await (await engine.fetch('http://api.test/')).json()),
  parameter: () => list({ like: '^a' }),
  list: async () => (await engine.handle('GET', '/v1/words/1')).body['word']['long'],
  write: async () => [
    (await engine.handle('PATCH', '/v1/words/1', {}, { text: 'a' })).status,
    (await engine.handle('DELETE', '/v1/words/3')).status,
  ],
}
// eslint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort!.postMessage(await (asked[place] ?? (() => list({})))())
