/**
 * A model-based spec: random sequences of creates, changes, links, unlinks and deletes over the API, beside a model made of four Maps.
 * After each step the status is the model's and so is everything a reader sees, both sides of every relation included.
 */
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { it } from 'node:test'
import { check, costly } from '../helpers/check.ts'
import { compareText } from '../helpers/oracle.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'
import { entities } from './world/entities.ts'
import { escapeText } from './world/queries.ts'

interface Model {
  users: Map<number, { email: string; name: string | null; publisher: string | null; boss: number | null; tags: Set<string> }>
  sites: Map<number, { url: string; user: number }>
  tags: Map<string, { name: string | null }>
  publishers: Map<string, { name: string | null }>
  /** Every ID that was ever given out: none may come again. */
  given: Set<string>
}

/** One drawn step. The numbers pick among what is there when the step runs, or something that is not there. */
interface Step {
  readonly does: keyof typeof STEPS
  readonly a: number
  readonly b: number
  readonly some: number[]
  readonly word: string | null
}

type Body = Record<string, unknown> & { readonly resource: string }
interface Answer {
  readonly status: number
  readonly body: Body
  readonly location: string | undefined
}
interface World {
  readonly model: Model
  readonly call: (method: string, path: string, body?: unknown, query?: Record<string, string>) => Promise<Answer>
}

const NOBODY = 9999
const NOTHING = '00000000-0000-4000-8000-000000000000'

/** The n-th key, or `absent` once in a while and when there are none. */
function pick<K>(map: Map<K, unknown>, n: number, absent: K): K {
  return [...map.keys()][n % (map.size + 1)] ?? absent
}
const pickSome = <K>(map: Map<K, unknown>, picks: number[]): K[] => [
  ...new Set(picks.flatMap(n => (map.size === 0 ? [] : [[...map.keys()][n % map.size] as K]))),
]
const record = (answer: Answer): Record<string, unknown> => answer.body[answer.body.resource] as Record<string, unknown>

function expectStatus(answer: Answer, ...allowed: number[]): boolean {
  assert.ok(allowed.includes(answer.status), `expected ${allowed.join(' or ')}, got ${JSON.stringify(answer)}`)
  return answer.status < 400
}

/** Notes that a create gave a new ID, and where it is. */
function created(world: World, answer: Answer, collection: string, key = 'id'): string {
  const id = String(record(answer)[key])
  assert.equal(answer.body['status'], 'OK')
  assert.equal(answer.location, `/v1/${collection}/${id}`)
  if (collection !== 'publishers') assert.ok(!world.model.given.has(`${collection}/${id}`), `${collection}/${id} was given before`)
  world.model.given.add(`${collection}/${id}`)
  return id
}

function dropTag({ model }: World, id: string): void {
  model.tags.delete(id)
  for (const user of model.users.values()) user.tags.delete(id)
}
function dropPublisher({ model }: World, code: string): void {
  model.publishers.delete(code)
  for (const user of model.users.values()) if (user.publisher === code) user.publisher = null
}
const sitesOf = ({ model }: World, user: number): number[] => [...model.sites].filter(([, site]) => site.user === user).map(([id]) => id)

const STEPS = {
  async createUser(world: World, { a, b, some, word }: Step) {
    const { model, call } = world
    const email = `u${b % 6}`
    const publisher = a % 3 === 0 ? null : pick(model.publishers, a, 'nowhere')
    const tags = pickSome(model.tags, some)
    const answer = await call('POST', '/v1/users', { email, name: word, publisher, tags })
    const absent = publisher !== null && !model.publishers.has(publisher)
    const taken = [...model.users.values()].some(user => user.email === email)
    // "A broken uniqueness is 409 when it is the only fault, else listed among the others in the 422"
    if (!expectStatus(answer, absent ? 422 : taken ? 409 : 200)) return
    model.users.set(Number(created(world, answer, 'users')), { email, name: word, publisher, boss: null, tags: new Set(tags) })
  },
  async createUserWithSites(world: World, { b, some, word }: Step) {
    const { model, call } = world
    const email = `n${b % 20}`
    const urls = some.map(n => `http://${n}/${word}`)
    const answer = await call('POST', '/v1/users', { email, sites: urls.map(url => ({ url })) })
    const taken = [...model.users.values()].some(user => user.email === email)
    if (!expectStatus(answer, taken ? 409 : 200)) return
    const user = Number(created(world, answer, 'users'))
    model.users.set(user, { email, name: null, publisher: null, boss: null, tags: new Set() })
    const ids = record(answer)['sites'] as number[]
    assert.equal(ids.length, urls.length)
    const made = await Promise.all(ids.map(async id => record(await call('GET', `/v1/sites/${id}`))))
    assert.deepEqual(made.map(site => String(site['url'])).sort(compareText), [...urls].sort(compareText))
    for (const site of made) model.sites.set(Number(site['id']), { url: String(site['url']), user })
  },
  async createSite(world: World, { a, word }: Step) {
    const user = pick(world.model.users, a, NOBODY)
    const answer = await world.call('POST', '/v1/sites', { url: word ?? '', user })
    if (!expectStatus(answer, world.model.users.has(user) ? 200 : 422)) return
    world.model.sites.set(Number(created(world, answer, 'sites')), { url: word ?? '', user })
  },
  async createTag(world: World, { word }: Step) {
    const answer = await world.call('POST', '/v1/tags', { name: word })
    expectStatus(answer, 200)
    world.model.tags.set(created(world, answer, 'tags'), { name: word })
  },
  async createPublisher(world: World, { b, word }: Step) {
    const code = `p${b % 5}`
    const answer = await world.call('POST', '/v1/publishers', { code, name: word })
    if (!expectStatus(answer, world.model.publishers.has(code) ? 409 : 200)) return
    world.model.publishers.set(created(world, answer, 'publishers', 'code'), { name: word })
  },
  async refuse(world: World, { a, b }: Step) {
    const bad = [{ email: 5 }, {}, { email: 'x', nope: 1 }, { email: 'x', age: '1' }, { email: 'x', tags: [NOTHING] }, { email: null }][
      b % 6
    ]
    expectStatus(await world.call('POST', '/v1/users', bad), 422)
    const user = pick(world.model.users, a, NOBODY)
    const change = [{ email: null }, { age: 1.5 }, { boss: NOBODY }, { id: user + 1 }, { publisher: { name: 'without a code' } }][b % 5]
    expectStatus(await world.call('PUT', `/v1/users/${user}`, change), world.model.users.has(user) ? 422 : 404)
  },
  async rename(world: World, { a, b, word }: Step) {
    const id = pick(world.model.users, a, NOBODY)
    const answer =
      b % 2 === 0
        ? await world.call(b % 4 === 0 ? 'PUT' : 'PATCH', `/v1/users/${id}`, { name: word })
        : await world.call('PUT', `/v1/users/${id}/name`, word)
    const user = world.model.users.get(id)
    if (!expectStatus(answer, user ? 200 : 404) || !user) return
    user.name = word
    assert.equal(record(answer)['name'], word)
    assert.equal(record(answer)['email'], user.email)
  },
  async changeEmail(world: World, { a, b }: Step) {
    const id = pick(world.model.users, a, NOBODY)
    const email = `u${b % 6}`
    const answer = await world.call('PUT', `/v1/users/${id}`, { email })
    const user = world.model.users.get(id)
    const taken = [...world.model.users].some(([other, { email: used }]) => other !== id && used === email)
    if (!expectStatus(answer, user ? (taken ? 409 : 200) : 404) || !user) return
    user.email = email
  },
  async linkPublisher(world: World, { a, b, some }: Step) {
    const id = pick(world.model.users, a, NOBODY)
    const publisher = b % 4 === 0 ? null : pick(world.model.publishers, b, 'nowhere')
    const answer =
      some.length % 2 === 0
        ? await world.call('PUT', `/v1/users/${id}`, { publisher })
        : await world.call('PUT', `/v1/users/${id}/publisher`, publisher)
    const user = world.model.users.get(id)
    if (!expectStatus(answer, user ? (publisher === null || world.model.publishers.has(publisher) ? 200 : 422) : 404) || !user) return
    user.publisher = publisher
  },
  async linkBoss(world: World, { a, b }: Step) {
    const id = pick(world.model.users, a, NOBODY)
    const boss = b % 4 === 0 ? null : pick(world.model.users, b, NOBODY)
    const answer = await world.call('PUT', `/v1/users/${id}/boss`, boss)
    const user = world.model.users.get(id)
    if (!expectStatus(answer, user ? (boss === null || world.model.users.has(boss) ? 200 : 422) : 404) || !user) return
    user.boss = boss
  },
  async replaceTags(world: World, { a, b, some }: Step) {
    const id = pick(world.model.users, a, NOBODY)
    const tags = [...pickSome(world.model.tags, some), ...(b % 7 === 0 ? [NOTHING] : [])]
    const answer =
      b % 2 === 0 ? await world.call('PUT', `/v1/users/${id}`, { tags }) : await world.call('PUT', `/v1/users/${id}/tags`, tags)
    const user = world.model.users.get(id)
    if (!expectStatus(answer, user ? (tags.includes(NOTHING) ? 422 : 200) : 404) || !user) return
    user.tags = new Set(tags)
  },
  async appendTag(world: World, { a, word }: Step) {
    const id = pick(world.model.users, a, NOBODY)
    const answer = await world.call('POST', `/v1/users/${id}/tags`, { name: word })
    const user = world.model.users.get(id)
    if (!expectStatus(answer, user ? 200 : 404) || !user) return
    // "after POST to a list attribute `Location` is the created record's own path"
    const tag = created(world, answer, 'tags')
    world.model.tags.set(tag, { name: word })
    user.tags.add(tag)
  },
  async moveSite(world: World, { a, b }: Step) {
    const id = pick(world.model.sites, a, NOBODY)
    const user = pick(world.model.users, b, NOBODY)
    const answer = await world.call('PUT', `/v1/sites/${id}`, { user })
    const site = world.model.sites.get(id)
    if (!expectStatus(answer, site ? (world.model.users.has(user) ? 200 : 422) : 404) || !site) return
    site.user = user
  },
  async orphanSite(world: World, { a, b }: Step) {
    const id = pick(world.model.sites, a, NOBODY)
    const there = world.model.sites.has(id)
    // Whether a refused unlink is the model's refusal (422) or a lost owner (409) the contract leaves open for a body.
    if (b % 3 === 0) expectStatus(await world.call('PUT', `/v1/sites/${id}`, { user: null }), ...(there ? [409, 422] : [404]))
    else if (b % 3 === 1) expectStatus(await world.call('PUT', `/v1/sites/${id}/user`, null), ...(there ? [409, 422] : [404]))
    else expectStatus(await world.call('DELETE', `/v1/sites/${id}/user`), there ? 409 : 404)
  },
  async replaceSites(world: World, { a, some }: Step) {
    const id = pick(world.model.users, a, NOBODY)
    const sites = pickSome(world.model.sites, some)
    const answer = await world.call('PUT', `/v1/users/${id}/sites`, sites)
    const leaves = sitesOf(world, id).some(site => !sites.includes(site))
    if (!expectStatus(answer, world.model.users.has(id) ? (leaves ? 409 : 200) : 404)) return
    for (const site of sites) world.model.sites.set(site, { url: world.model.sites.get(site)?.url ?? '', user: id })
  },
  async deleteUser(world: World, { a }: Step) {
    const id = pick(world.model.users, a, NOBODY)
    const answer = await world.call('DELETE', `/v1/users/${id}`)
    const user = world.model.users.get(id)
    if (!expectStatus(answer, user ? (sitesOf(world, id).length > 0 ? 409 : 200) : 404) || !user) return
    assert.equal(answer.body['status'], 'OK')
    assert.equal(record(answer)['email'], user.email)
    world.model.users.delete(id)
    for (const other of world.model.users.values()) if (other.boss === id) other.boss = null
  },
  async deleteSite(world: World, { a }: Step) {
    const id = pick(world.model.sites, a, NOBODY)
    if (expectStatus(await world.call('DELETE', `/v1/sites/${id}`), world.model.sites.has(id) ? 200 : 404)) world.model.sites.delete(id)
  },
  async deleteTag(world: World, { a }: Step) {
    const id = pick(world.model.tags, a, NOTHING)
    if (expectStatus(await world.call('DELETE', `/v1/tags/${id}`), world.model.tags.has(id) ? 200 : 404)) dropTag(world, id)
  },
  async deletePublisher(world: World, { a }: Step) {
    const code = pick(world.model.publishers, a, 'nowhere')
    const there = world.model.publishers.has(code)
    if (expectStatus(await world.call('DELETE', `/v1/publishers/${code}`), there ? 200 : 404)) dropPublisher(world, code)
  },
  async deletePublisherOfUser(world: World, { a }: Step) {
    const id = pick(world.model.users, a, NOBODY)
    const code = world.model.users.get(id)?.publisher
    const answer = await world.call('DELETE', `/v1/users/${id}/publisher`)
    // "through an empty one it is 404"
    if (!expectStatus(answer, code ? 200 : 404) || !code) return
    assert.equal(record(answer)['code'], code)
    dropPublisher(world, code)
  },
  async deleteTagsOfUser(world: World, { a, b, word }: Step) {
    const id = pick(world.model.users, a, NOBODY)
    const filtered = b % 2 === 0
    const value = word === null ? 'null' : escapeText(word.replaceAll('\0', ''))
    const answer = await world.call('DELETE', `/v1/users/${id}/tags`, undefined, filtered ? { name: value } : {})
    const user = world.model.users.get(id)
    if (!expectStatus(answer, user ? 200 : 404) || !user) return
    const chosen = [...user.tags].filter(tag => !filtered || world.model.tags.get(tag)?.name === (word?.replaceAll('\0', '') ?? null))
    assert.equal(answer.body['count'], chosen.length)
    assert.equal(answer.body['status'], 'OK')
    for (const tag of chosen) dropTag(world, tag)
  },
}

/** Everything a reader sees is what the model holds. */
async function compare({ model, call }: World): Promise<void> {
  const shown = async (resource: string, attributes: string): Promise<unknown> => {
    const answer = await call('GET', `/v1/${resource}`, undefined, { attributes, limit: '1000' })
    assert.equal(answer.status, 200)
    return answer.body[resource]
  }
  const numbers = <V>(map: Map<number, V>): [number, V][] => [...map].sort(([a], [b]) => a - b)
  const texts = <V>(map: Map<string, V>): [string, V][] => [...map].sort(([a], [b]) => compareText(a, b))
  const users = numbers(model.users)
  const where = (test: (user: Model['users'] extends Map<number, infer U> ? U : never) => boolean): number[] =>
    users.filter(([, user]) => test(user)).map(([id]) => id)

  assert.deepEqual(
    await shown('users', 'id,name,email,publisher,boss,staff,sites,tags'),
    users.map(([id, user]) => ({
      id,
      name: user.name,
      email: user.email,
      publisher: user.publisher,
      boss: user.boss,
      staff: where(({ boss }) => boss === id),
      sites: numbers(model.sites)
        .filter(([, site]) => site.user === id)
        .map(([site]) => site),
      tags: [...user.tags].sort(compareText),
    })),
  )
  assert.deepEqual(
    await shown('sites', 'id,url,user'),
    numbers(model.sites).map(([id, site]) => ({ id, ...site })),
  )
  assert.deepEqual(
    await shown('tags', 'id,name,users'),
    texts(model.tags).map(([id, { name }]) => ({ id, name, users: where(({ tags }) => tags.has(id)) })),
  )
  assert.deepEqual(
    await shown('publishers', 'code,name,users'),
    texts(model.publishers).map(([code, { name }]) => ({ code, name, users: where(({ publisher }) => publisher === code) })),
  )
}

const kinds = Object.keys(STEPS) as Step['does'][]
const step = fc.record<Step>({
  // Creates come more often, so that there is something to work on.
  does: fc.oneof(fc.constantFrom(...kinds), fc.constantFrom<Step['does']>('createUser', 'createTag', 'createSite', 'createPublisher')),
  a: fc.nat({ max: 50 }),
  b: fc.nat({ max: 50 }),
  some: fc.array(fc.nat({ max: 50 }), { maxLength: 3 }),
  word: fc.constantFrom(null, '', 'a', 'A', 'é', 'a*', 'a,b', 'null', 'a\0b', '\u{1F600}', "'; drop table user; --"),
})

describeStores('model', store => {
  // PostgreSQL stores no NUL.
  const storable = (steps: Step[]): Step[] =>
    store.name === 'memory' ? steps : steps.map(each => ({ ...each, word: each.word?.replaceAll('\0', '') ?? null }))

  it('keeps what its Maps keep, whatever the steps', async () => {
    await using engine = await createEngine({ entities })
    await check(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40, size: 'max' }), async steps => {
        await engine.reset()
        const world: World = {
          model: { users: new Map(), sites: new Map(), tags: new Map(), publishers: new Map(), given: new Set() },
          async call(method, path, body, query) {
            const response = await engine.handle(method, path, query, body)
            return { status: response.status, body: response.body as Body, location: response.headers['location'] }
          },
        }
        for (const each of storable(steps)) {
          await STEPS[each.does](world, each)
          await compare(world)
        }
      }),
      { label: 'model', runs: costly(120) },
    )
  })
})
