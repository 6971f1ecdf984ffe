/** Finds a stored record of each resource that every caller may list, as examples for OpenAPI. */
import { completeExample, exampleParameters } from '../../description/openapi/examples.ts'
import type { DescribedLogin } from '../../description/openapi/source.ts'
import type { HookContext } from '../../model/hook-context.ts'
import type { Resource } from '../../model/model.ts'
import { EVERYTHING } from '../../records/plan/visibility.ts'
import type { JsonRecord } from '../../records/read/run-read.ts'
import { formatRoot } from '../../records/request/address.ts'
import type { Services } from './operate.ts'

interface ExampleReader {
  readonly version: string
  readonly login: DescribedLogin | undefined
  /** Without a user. */
  readonly ctx: () => HookContext
}

/**
 * Views (`readOnly`) have no example: reading may cost much. `exampleParameters` leaves out what rules hide from some callers, so
 * `EVERYTHING` is safe.
 *
 * @param kept examples found before, extended here; `undefined` where reading has failed, which is not tried again
 */
export async function findExamples(
  { model, reader }: Services,
  { version, login, ctx }: ExampleReader,
  kept: Map<Resource, JsonRecord | undefined>,
): Promise<ReadonlyMap<Resource, JsonRecord>> {
  for (const resource of model.resources) {
    if (resource.readOnly || kept.has(resource)) continue
    const parameters = exampleParameters(resource)
    const isPublic = login === undefined || login.isPublic('GET', `${formatRoot('', version)}/${resource.plural}`)
    if (parameters === undefined || !isPublic) continue
    try {
      const record = await reader.first(resource, { parameters, visibility: EVERYTHING, ctx: ctx() })
      if (record !== undefined) kept.set(resource, completeExample(record, resource))
    } catch {
      // A request for the resource shows the error.
      kept.set(resource, undefined)
    }
  }
  return new Map([...kept].flatMap(([resource, record]) => (record === undefined ? [] : [[resource, record] as const])))
}
