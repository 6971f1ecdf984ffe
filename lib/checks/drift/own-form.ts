/**
 * Own form: answers of a backend whose envelope the fake has by the option `envelope`, in the engine's own form, which is what a comparison
 * reads. Takes a body and the place of its request; what is of another form stays as it is.
 */
import type { CompiledTemplate } from '../../foundation/base/envelope-template.ts'
import type { RequestPlace } from './replay.ts'

/** The templates of the fake. */
export interface FakeEnvelope {
  readonly list: CompiledTemplate | undefined
  readonly record: CompiledTemplate | undefined
  readonly removed: CompiledTemplate | undefined
  /** What makes bodies of refusals, whose codes cannot be compared then. */
  readonly error?: unknown
}

/** The template of the answers to a request; undefined where they have the engine's own form. */
export function findTemplate(
  envelope: FakeEnvelope | undefined,
  { isList, answered }: RequestPlace,
  method: string,
): CompiledTemplate | undefined {
  if (envelope === undefined || answered === undefined) return undefined
  return (method === 'DELETE' ? envelope.removed : undefined) ?? (isList && method !== 'POST' ? envelope.list : envelope.record)
}

/** Returns a body in the engine's own form. */
export function toOwnForm(body: unknown, template: CompiledTemplate | undefined, { answered }: RequestPlace): unknown {
  const parts = template?.read(body)
  if (parts === undefined || answered === undefined) return body
  const { records, record, ...others } = parts
  const isList = records !== undefined || (template!.isBare && Array.isArray(record))
  const name = isList ? answered.plural : answered.singular
  return { ...others, success: true, resource: name, [name]: isList ? (records ?? record) : record }
}

/** The keys that lead to the records of an answer; undefined where these stand under the name of their resource. */
export function findRecordsPath(template: CompiledTemplate | undefined, { answered }: RequestPlace): readonly string[] | undefined {
  return template === undefined || answered === undefined
    ? undefined
    : (template.pathOf('records', answered) ?? template.pathOf('record', answered))
}
