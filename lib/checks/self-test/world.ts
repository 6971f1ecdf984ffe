/** Makes the world of a self-test from a fork of the engine. */
import type { EntityName } from '@mikro-orm/core'
import { Conformity } from '../../description/conformity/conformity.ts'
import type { EngineParts } from '../../engine/assembly/assemble.ts'
import type { HandleContext } from '../../engine/pipeline/arrival.ts'
import { finishAnswer } from '../../engine/pipeline/respond.ts'
import { LazyClient } from '../../foundation/async/abort.ts'
import { holdAnswer } from '../../engine/assembly/hold-answer.ts'
import { TextStream } from '../../foundation/http/text-stream.ts'
import type { EngineHandle } from '../../model/hook-context.ts'
import type { TestedWorld } from './self-test.ts'

/**
 * Stops the clock, so that answers repeat.
 *
 * @param mint makes the token of a user
 */
export async function createTestedWorld(
  parts: EngineParts<EngineHandle & { close(): Promise<void> }>,
  mint: (user: object) => string,
): Promise<TestedWorld> {
  const { options, requests, descriptions, served, world, given, clock, connection } = parts
  clock.set(clock.now())
  const beginning = await world.snapshot()
  return {
    base: options.base,
    versions: options.versions,
    maxLimit: options.limits.maxLimit,
    isReadOnly: options.readOnly,
    hasWire: parts.shared.hasWire,
    template: options.envelope?.record,
    now: clock.now().getTime(),
    // The checks read the engine's form. The application's is only checked against the document.
    async handle(method, path, query, body, context) {
      const response = await requests.handle(method, path, query, body, options.envelope === undefined ? context : plainClient(context))
      return response.body instanceof TextStream ? { ...response, body: await response.body.text() } : response
    },
    conforms(request, response) {
      const asked = { method: request.method, path: request.path, context: undefined, request: undefined }
      return holdAnswer(parts, request, finishAnswer(response, response.status >= 400 ? 'refusal' : 'answer', asked, parts))
    },
    async describe(version) {
      const { model, vocabulary } = served.get(version)!
      // Paths of the document exclude the base.
      const document = await descriptions.describe({ version, attributes: true }, options.readOnly)
      return { document: new Conformity(document), model, vocabulary }
    },
    restore: () => world.restore(beginning),
    complete: (resource, overrides, seed) => given.complete(resource, overrides, seed),
    isSetOnUpdate({ entity }, { property, fill }) {
      if (fill?.update !== undefined) return true
      return connection.orm.getMetadata().get(entity as EntityName).properties[property]?.['onUpdate'] !== undefined
    },
    async logIn() {
      const entity = options.auth?.options.entity
      if (entity === undefined) return undefined
      const { primaryKeys } = connection.orm.getMetadata().get(entity)
      const orderBy = Object.fromEntries(primaryKeys.map(key => [key, 'asc' as const]))
      const [user] = (await connection.orm.em.fork().find(entity, {}, { limit: 1, filters: false, orderBy })) as object[]
      return user === undefined ? undefined : { authorization: `Bearer ${mint(user)}` }
    },
  }
}

function plainClient({ headers = {}, signal }: HandleContext): LazyClient {
  const client = new LazyClient({ headers }, { isPlain: true })
  signal?.addEventListener('abort', () => client.leave(signal.reason), { once: true })
  return client
}
