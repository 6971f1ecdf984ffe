/**
 * Bodies: what the schema of a body shows as an example is accepted, and what it refuses for its type the engine refuses, and the other way
 * round.
 */
import { internalsOf } from '../../lib/engine/assembly/internals.ts'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Conformity } from './conformity.ts'
import type { Operation } from './conformity.ts'
import { worlds } from './worlds.ts'

type Schema = Readonly<Record<string, unknown>>

/** Values of every JSON type, and texts of no form. */
const WRONG: readonly unknown[] = [null, true, 1.5, 'no-such-value', [], [null], { nonsense: 1 }]

/** Bodies without an example, by world: what they must link has rules or filters, or may be linked once only. */
const WITHOUT: Readonly<Record<string, readonly string[]>> = {
  library: ['createProfile'],
  shop: [
    'createOrganization',
    'createMember',
    'createApiKey',
    'createImage',
    'createCustomer',
    'createOrder',
    'createOrderLine',
    'createPayment',
    'createReview',
    'createCoupon',
  ],
  configured: ['createSite', 'createCreative', 'createCampaign', 'createDailyStatistic', 'createDomain', 'createWebsite'],
}

/** Whether the values of an attribute are the application's own, of which only its code knows the form. */
function saysNothing(schema: Schema): boolean {
  return schema['type'] === undefined && schema['anyOf'] === undefined
}

for (const { name, create, headers: headersOf } of worlds) {
  describe(`bodies of the ${name}`, { timeout: 120_000 }, () => {
    const creating = ({ pointer, template, operationId }: Operation): boolean =>
      pointer.endsWith('/post') && !template.includes('{') && operationId.startsWith('create')

    it('of the examples make records', async () => {
      await using engine = await create()
      const headers = headersOf(engine)
      for (const version of engine.versions) {
        const conformity = new Conformity(await engine.openapi({ version, details: true }))
        const lacking: string[] = []
        for (const operation of conformity.operations.filter(creating)) {
          const [example] = (conformity.bodySchemaOf(operation)?.['examples'] ?? []) as unknown[]
          if (example === undefined) {
            lacking.push(operation.operationId)
            continue
          }
          assert.deepEqual(conformity.bodyFaultsOf('POST', operation.template, example), [], operation.operationId)
          await using world = await engine.fork()
          const answer = await world.handle('POST', operation.template, undefined, example, { headers })
          assert.equal(answer.status, 200, JSON.stringify([example, answer.body]))
          assert.deepEqual(conformity.faultsOf('POST', operation.template, answer), [])
        }
        assert.deepEqual(
          lacking.filter(id => WITHOUT[name]?.includes(id) !== true),
          [],
        )
      }
    })

    it('are refused by the schema where the engine refuses a value for its type, and only there', async () => {
      await using engine = await create()
      const headers = headersOf(engine)
      const conformity = new Conformity(await engine.openapi({ details: true }))
      let count = 0
      for (const operation of conformity.operations.filter(creating)) {
        const schema = conformity.bodySchemaOf(operation)!
        const valid = ((schema['examples'] ?? []) as Record<string, unknown>[])[0]
        if (valid === undefined) continue
        await using world = await engine.fork()
        for (const attribute of Object.keys(schema['properties'] as Schema)) {
          if (saysNothing((schema['properties'] as Record<string, Schema>)[attribute]!)) continue
          for (const wrong of WRONG) {
            const body = { ...valid, [attribute]: wrong }
            const { status, body: answer } = await world.handle('POST', operation.template, undefined, body, { headers })
            const faults = conformity.bodyFaultsOf('POST', operation.template, body)
            const place = `${operation.operationId} ${attribute} ${JSON.stringify(wrong)}: ${JSON.stringify(answer)} ${faults.join('; ')}`
            const codes = ((answer as { errors?: { code: string }[] }).errors ?? []).map(({ code }) => code)
            const isOfType = !codes.some(code =>
              ['value_invalid', 'null_not_allowed', 'not_allowed', 'attribute_unknown', 'required', 'too_long'].includes(code),
            )
            if (status === 200 || isOfType) assert.deepEqual(faults, [], place)
            else assert.ok(faults.length > 0, place)
            count++
          }
        }
      }
      assert.ok(count > 100)
    })

    it('with unknown and read-only attributes are refused by both', async () => {
      await using engine = await create()
      const conformity = new Conformity(await engine.openapi({ details: true }))
      for (const operation of conformity.operations.filter(creating)) {
        const resource = internalsOf(engine).model.byName.get(decodeURIComponent(operation.template.split('/')[2]!))!
        const closed = resource.attributes.filter(({ readOnly }) => readOnly).map(attribute => attribute.name)
        for (const attribute of [...closed, 'nonsense']) {
          const faults = conformity.bodyFaultsOf('POST', operation.template, { [attribute]: 1 })
          assert.ok(
            faults.some(fault => fault.includes('additional')),
            `${operation.operationId} ${attribute}`,
          )
        }
      }
    })
  })
}
