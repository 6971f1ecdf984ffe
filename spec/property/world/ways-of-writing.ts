/**
 * Two ways of writing: what the specs share that compare statements of a plan with MikroORM's unit of work, on SQLite and on PostgreSQL.
 */
import type { Change, RestEngine } from '../../../lib/index.ts'
import type { RowWriter } from '../../../lib/databases/postgres/connection.ts'
import type { UnitsOfWork } from '../../../lib/databases/sqlite/units-of-work.ts'

export interface Request {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly headers?: Record<string, string>
}

/** Counts the statements that rows are written with from now on, by their first word. */
export function countWritten(writer: Pick<RowWriter, 'run'> | Pick<UnitsOfWork, 'run'>): Map<string, number> {
  const written = new Map<string, number>()
  const run = writer.run as RowWriter['run']
  writer.run = function (this: RowWriter, statement, parameters, behind) {
    const [word] = statement.sql.split(' ', 1)
    written.set(word!, (written.get(word!) ?? 0) + 1)
    return run.call(this, statement, parameters, behind)
  }
  return written
}

/**
 * The pivot tables of ordered lists, each with the column that links the owner and the one that has the order. Their rows are compared list
 * by list, without the latter: MikroORM inserts the rows of several lists in an order of its own.
 */
export function orderedLists({ orm }: RestEngine): ReadonlyMap<string, { readonly owner: string; readonly position: string }> {
  const lists = [...orm.getMetadata()].flatMap(({ props }) =>
    props.filter(({ kind, fixedOrder, owner }) => kind === 'm:n' && fixedOrder && owner),
  )
  return new Map(lists.map(prop => [prop.pivotTable, { owner: prop.joinColumns[0]!, position: prop.fixedOrderColumn! }]))
}

/**
 * The changes by resource and record. One statement may write several rows, in any order, and of tables that do not refer to each other
 * either may be first.
 */
export function sortChanges(changes: readonly Change[]): Change[] {
  const place = ({ resource, id }: Change): string => `${resource} ${String(id)}`
  return changes.toSorted((a, b) => (place(a) < place(b) ? -1 : Number(place(a) > place(b))))
}

/**
 * Leaves out which record may not be written, where an answer says so: of several it is the first that a way of writing comes to, and a
 * server gives rows in no order of its own.
 */
export function leaveUnnamed<Answer extends { readonly status: number; readonly body: object }>(answer: Answer): Answer {
  const { detail } = answer.body as { readonly detail?: string }
  if (answer.status !== 403) return answer
  const unnamed = detail?.replace(
    /^You may not change (?:the \w+ [^ ]+|all \w+ that this changes)\.$|^The \w+ would be outside of what you may write\.$/,
    'It may not be written.',
  )
  return { ...answer, body: { ...answer.body, detail: unnamed } }
}
