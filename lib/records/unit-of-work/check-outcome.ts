/**
 * Checks a flushed write before the commit. The caller must see all written records, and a list with a condition (`where`) must show the
 * records of the body. Refuses with outside_scope, statement_dropped and validation_failed.
 */
import { wait, type Coroutine } from '../../foundation/async/awaitable.ts'
import { FieldErrors } from '../../foundation/json/body-errors.ts'
import { keyOfEntity } from '../../model/entity-key.ts'
import type { KeyValues } from '../../model/key.ts'
import type { Resource } from '../../model/model.ts'
import { EVERYTHING } from '../plan/visibility.ts'
import type { Reader } from '../read/reader.ts'
import { refuseNew, outsideScope } from '../validate/dropped-writes.ts'
import type { Touched, Work } from './unit-of-work.ts'
import type { WriteRules } from '../validate/write-rules.ts'

/** @param answered the record of the answer, which needs no check of its own */
export function* flushAndCheck(work: Work, reader: Reader, answered?: Touched): Coroutine<void> {
  yield* wait(work.em.flush())
  const { conditional, touched } = work
  if (conditional.length > 0) yield* wait(refuseUnlisted(work, reader))
  // Reading the answer shows whether a record is visible.
  else if (touched.length < 2 && touched[0]?.entity === answered?.entity && touched[0]?.resource === answered?.resource) return
  yield* refuseUnseen(work, reader)
}

async function refuseUnlisted(work: Work, { limits }: Reader): Promise<void> {
  const errors = new FieldErrors(limits)
  for (const { list, entity, path } of work.conditional) {
    const { target, name } = list
    if (await work.meets(list, keyOfEntity(target, entity))) continue
    const detail =
      `"${path === '' ? name : path}": the ${target.singular} does not meet the condition ` +
      `of the model ("where") for what is in "${name}".`
    errors.push({ code: 'conflict', detail, attribute: path === '' ? name : path })
  }
  const refusal = errors.refusal()
  if (refusal !== undefined) throw refusal
}

function* refuseUnseen(work: Work, reader: Reader): Coroutine<void> {
  for (const { resource, entity, key: formerKey } of work.touched) {
    const key = formerKey ?? keyOfEntity(resource, entity)
    if (yield* wait(work.isVisible(resource, key))) continue
    if (formerKey === undefined) yield* refuseNew(resource, key, { connection: work.connection, reader })
    yield* wait(refuseLeft(resource, key, work, reader))
  }
}

/**
 * Refuses a record outside of the caller's scope, unless removed by the model's own rules, or softly deleted: hidden by a fixed filter.
 */
export async function refuseLeft(resource: Resource, key: KeyValues, work: Work, reader: Reader): Promise<void> {
  if ((await work.isVisible(resource, key)) || (await work.mayLeave(resource, key))) return
  if (await reader.exists(resource, key, EVERYTHING)) throw outsideScope(resource)
}

export function* confirmWritten({ touched, em }: Work, writing: WriteRules): Coroutine<void> {
  yield* wait(em.flush())
  for (const { resource, entity, key } of touched) if (key === undefined) writing.addNew(resource, keyOfEntity(resource, entity))
  yield* writing.confirm()
}
