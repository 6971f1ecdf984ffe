/** Gives the authentication module its calls to the engine. Ends the tokens of deleted users, where no trigger does. */
import { findVisibility } from '../../records/access/access-rules.ts'
import { unwrapBody } from '../../records/access/unwrap-body.ts'
import type { Authentication } from '../auth/authentication.ts'
import type { AuthServices } from '../auth/services.ts'
import type { Clock } from '../../foundation/async/clock.ts'
import type { ChangeRecorder } from '../../records/database/changes.ts'
import type { OpenDatabase } from '../../records/database/world-store.ts'
import type { Resource } from '../../model/model.ts'
import { NO_PARAMETERS } from '../../records/request/query-string.ts'
import { findId, findRowKey } from '../../records/read/row-keys.ts'
import { RequestContext } from '../../records/request/request-context.ts'
import type { Services } from '../pipeline/operate.ts'
import type { CompiledEnvelope } from '../options/shape-answer.ts'

export function createAuthServices(
  { connection, logIns }: Pick<OpenDatabase, 'connection' | 'logIns'>,
  served: ReadonlyMap<string, Services>,
  clock: Clock,
  envelope: CompiledEnvelope | undefined,
): AuthServices {
  const findServices = (resource: Resource): Services => {
    for (const services of served.values()) if (services.model.byEntity.get(resource.entity) === resource) return services
    throw new Error(`Not served: ${resource.className}.`)
  }
  return {
    // Late: a fork makes its MikroORM only when asked.
    orm: () => connection.orm,
    clock,
    versions: served,
    stored: (resource, key, columns) => findServices(resource).reader.asStored.recordWith(resource, key, columns),
    storedBeside: (resource, key, columns, other) => findServices(resource).reader.asStored.recordBeside(resource, key, columns, other),
    refuses: error => connection.dialect.refusal(error) !== undefined,
    store: logIns,
    columns: (resource, key, columns) => findServices(resource).reader.asStored.columns(resource, key, columns),
    rowKey: (resource, id) => findRowKey(resource, id, connection),
    id: (resource, key) => findId(resource, key, connection),
    unwrap: (body, resource) => (envelope?.record === undefined ? body : unwrapBody(body, resource, envelope.record)),
    shown: async (resource, key, principal, ctx) => {
      const { rules, reader } = findServices(resource)
      const userContext = new RequestContext({ ...(ctx as RequestContext).parts, principal })
      const visibility = findVisibility(rules, NO_PARAMETERS, userContext)
      return reader.record(resource, key, { parameters: NO_PARAMETERS, visibility, ctx: userContext })
    },
  }
}

interface TokenParts {
  readonly database: Pick<OpenDatabase, 'logIns'>
  readonly authentication: Authentication | undefined
  readonly recorder: ChangeRecorder
}

/**
 * Revokes at once, whatever deletes the record. A writable store, on PostgreSQL, has a trigger instead, if the engine has made the
 * database; elsewhere the token of a missing user ends by the stored password.
 */
export function revokeTokensOfRemovedUsers({ authentication, recorder, database }: TokenParts): void {
  if (authentication === undefined || database.logIns?.mayWrite === true) return
  const { table } = authentication
  recorder.watchers.add({
    table,
    add: change => {
      if (change.kind !== 'row' || change.table.resource.table !== table) return
      const id = change.before()?.id
      if (id !== undefined && id !== change.after()?.id) authentication.removed(id)
    },
  })
}
