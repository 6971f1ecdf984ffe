/** Many-to-many lists whose links are rows of an entity of their own, which needs more than two links: errors are about the members. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { resource, type RestEngine } from '../../lib/index.ts'
import { createEngine, describeStores, suiteEngine } from '../helpers/stores.ts'

const Person = defineEntity({ name: 'Person', properties: { id: p.integer().primary(), name: p.string() } })
const Org = defineEntity({
  name: 'Org',
  properties: { id: p.integer().primary(), name: p.string(), projects: () => p.oneToMany(Project).mappedBy('org') },
})
const Project = defineEntity({
  name: 'Project',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    org: () => p.manyToOne(Org).nullable(),
    members: () => p.manyToMany(Person).pivotEntity(() => Member),
    leaders: () => p.manyToMany(Person).pivotEntity(() => Leader),
  },
})
const Member = defineEntity({
  name: 'Member',
  properties: { project: () => p.manyToOne(Project).primary(), person: () => p.manyToOne(Person).primary(), since: p.date() },
})
/** A person leads one project. */
const Leader = defineEntity({
  name: 'Leader',
  properties: { project: () => p.manyToOne(Project).primary(), person: () => p.manyToOne(Person).primary().unique() },
})
const entities = [Person, Org, Project, Member, Leader]
const seed = {
  people: [1, 2, 3].map(id => ({ id, name: `p${id}` })),
  orgs: [{ id: 1, name: 'o' }],
  projects: [
    { id: 5, name: 'a' },
    { id: 6, name: 'b' },
  ],
  members: [{ project: 5, person: 2, since: '2020-01-01' }],
  leaders: [{ project: 5, person: 1 }],
}

type Refusal = readonly [line: string, body: unknown, attributes: readonly string[]]

const CASES: readonly Refusal[] = [
  ['POST /v1/projects', { name: 'x', members: [1] }, ['members.0']],
  ['POST /v1/projects', { name: 'x', members: [2, 1] }, ['members.0', 'members.1']],
  ['POST /v1/projects', { name: 'x', members: [{ name: 'new' }] }, ['members.0']],
  ['POST /v1/projects', [{ name: 'x' }, { name: 'y', members: [1] }], ['1.members.0']],
  ['PUT /v1/projects/5', { members: [2, 1] }, ['members.1']],
  ['PATCH /v1/projects/5', { members: { connect: [1] } }, ['members.connect.0']],
  ['PUT /v1/projects/5/members', [1, 2, 3], ['members.0', 'members.2']],
  ['PUT /v1/projects/5/members', { connect: [2, 3] }, ['members.connect.1']],
  ['POST /v1/projects/5/members', 1, ['members.connect.0']],
  ['POST /v1/projects/5/members', { name: 'new' }, ['members']],
  ['POST /v1/orgs', { name: 'o', projects: [{ name: 'x', members: [1] }] }, ['projects.0.members.0']],
  ['PUT /v1/orgs/1/projects', [{ name: 'x', members: [3, 1] }], ['projects.0.members.0', 'projects.0.members.1']],
  ['POST /v1/orgs/1/projects', { name: 'x', members: [1] }, ['members.0']],
]

/** What is no new link. */
const TAKEN: readonly (readonly [string, unknown])[] = [
  ['PUT /v1/projects/5', { name: 'y', members: [2] }],
  ['PUT /v1/projects/5/members', [2]],
  ['POST /v1/projects/5/members', 2],
  ['PUT /v1/projects/5/members', []],
  ['PUT /v1/projects/5/members', { disconnect: [2] }],
]

interface ErrorBody {
  readonly code: string
  readonly detail: string
  readonly errors: readonly { readonly code: string; readonly attribute: string; readonly detail: string }[]
}

async function refused(engine: RestEngine, line: string, body: unknown, status: number): Promise<ErrorBody> {
  const answer = await engine.send(line, { body })
  assert.equal(answer.status, status, `${line} ${JSON.stringify(body)}: ${JSON.stringify(answer.body)}`)
  return answer.body as ErrorBody
}

for (const listens of [false, true])
  describeStores(`links that are rows of an entity${listens ? ', with a subscriber' : ''}`, () => {
    const engine = suiteEngine({ entities, seed, ...(listens ? { orm: { subscribers: [{ afterFlush: () => {} }] } } : {}) })

    it('names the member that cannot be linked, the attribute that its row needs, and the resource', async () => {
      for (const [line, body, attributes] of CASES) {
        const { errors } = await refused(engine(), line, body, 422)
        const why = 'a member needs its "since". Create the member itself: POST /members.'
        const expected = attributes.map(attribute => ['required', attribute, `"${attribute}" cannot be linked by the list: ${why}`])
        const found = errors.map(({ code, attribute, detail }) => [code, attribute, detail.replace(/^\[1\]: "/, '"1.')])
        assert.deepEqual(found, expected, `${line} ${JSON.stringify(body)}`)
      }
      const { body } = await engine().send('GET /v1/members')
      assert.equal((body as { count: number }).count, 1)
    })

    it('gives a member the path that it has where there is no such record', async () => {
      for (const [line, body, attributes] of CASES) {
        if (JSON.stringify(body).includes('new')) continue
        const unknown = JSON.parse(JSON.stringify(body).replaceAll(/\b[13]\b/g, '99')) as unknown
        const { errors } = await refused(engine(), line, unknown, 422)
        const places = errors.map(({ attribute }) => attribute)
        assert.ok(
          places.length > 0 && places.every(place => attributes.includes(place)),
          `${line} ${JSON.stringify(unknown)}: ${places.join()}`,
        )
      }
    })

    it('takes what sets no new link', async () => {
      for (const [line, body] of TAKEN) {
        assert.equal((await engine().send(line, { body })).status, 200, `${line} ${JSON.stringify(body)}`)
        await engine().reset()
      }
    })

    it('names the row itself where the body gives it', async () => {
      const { errors } = await refused(engine(), 'POST /v1/members', { project: 5, person: 1 }, 422)
      assert.deepEqual(errors, [{ code: 'required', attribute: 'since', detail: '"since" must be given.' }])
      const body = { project: { name: 'x', members: [1] }, person: 1, since: '2026-01-01' }
      const { errors: nested } = await refused(engine(), 'POST /v1/members', body, 422)
      assert.deepEqual(
        nested.map(({ attribute }) => attribute),
        ['project.members.0'],
      )
    })

    it('names the member whose row has a value that is taken', async () => {
      const detail = '"leaders.0" cannot be linked: another leader has this "person" already.'
      const one = await refused(engine(), 'POST /v1/projects', { name: 'x', leaders: [1] }, 409)
      assert.deepEqual(one.errors, [{ code: 'not_unique', detail, attribute: 'leaders.0' }])
      const several = await refused(engine(), 'PUT /v1/projects/6', { leaders: [2, 1] }, 409)
      assert.deepEqual(
        several.errors.map(({ attribute }) => attribute),
        ['leaders'],
      )
    })

    it('names the member of a seed, and of what is given', async () => {
      await assert.rejects(engine().seed({ projects: [{ name: 'x', members: [1] }] }), /seed: "projects\.0\.members\.0" cannot be linked/)
      await assert.rejects(engine().given('project', { members: [1] }), /given: "members\.0" cannot be linked/)
    })
  })

describeStores('a pivot that nobody may create', () => {
  it('gets no advice to create one', async () => {
    await using engine = await createEngine({ entities, seed, resources: [resource(Member, { access: { create: false } })] })
    const { detail } = await refused(engine, 'POST /v1/projects', { name: 'x', members: [1] }, 422)
    assert.equal(detail, '"members.0" cannot be linked by the list: a member needs its "since".')
  })
})
