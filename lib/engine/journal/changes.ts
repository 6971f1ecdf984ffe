/** Merges the reports of changed rows into one change for each record. */
import { shownName } from '../../model/ids-name.ts'
import type { RawChange, RowImage, Watched, WatchedList, WatchedTable } from '../../records/database/changes.ts'
import type { JsonRecord } from '../../records/read/run-read.ts'
import { findHierarchyRoot, type Model, type Resource } from '../../model/model.ts'
import { planStored } from '../../records/plan/plan.ts'
import type { Field } from '../../records/plan/read-plan.ts'

/** A record that a request has inserted, updated or deleted. */
export interface Change {
  readonly type: 'insert' | 'update' | 'delete'
  /** Plural name of the resource, in the first version that serves it. */
  readonly resource: string
  readonly id: string | number
  /** The record's own stored attributes before, as in the API; `null` for an insert. */
  // oxlint-disable-next-line typescript/no-explicit-any -- as in bodies: contents follow from the model
  readonly before: any
  /** The attributes after; `null` for a delete. */
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  readonly after: any
}

/** Lists each table by the first version with the resource. */
export function listWatched(models: readonly Model[]): Watched {
  const tables: WatchedTable[] = []
  const watchedTables = new Set<string>()
  const names = new Set(models[0]!.resources.flatMap(({ accepted }) => accepted))
  for (const { entity } of models[0]!.entities) {
    const found = findResource(entity, models)
    // Classes of a shared table are reported as their root: each row once. For a record in several tables, each table reports its columns.
    const resource: Resource =
      found.source.kind === 'table' ? findHierarchyRoot(found) : { ...found, source: { kind: 'table' }, hierarchy: undefined }
    if (resource.readOnly || resource.key.length === 0 || watchedTables.has(resource.table)) continue
    const isFirst = models[0]!.byEntity.has(entity)
    const name = isFirst
      ? resource.plural
      : ([resource.plural, resource.table, resource.className].find(free => !names.has(free)) ?? `${resource.className} (entity)`)
    names.add(name)
    const stored = [...planStored(resource).node!.fields.flatMap(listRowFields), ...listHolder(resource)]
    watchedTables.add(resource.table)
    tables.push({
      resource,
      name,
      fields: found.source.kind === 'joined' ? stored.flatMap(field => listTableFields(field, found)) : stored,
    })
  }
  const lists = tables.flatMap(table =>
    table.resource.attributes.flatMap((attribute): WatchedList[] => {
      if (attribute.kind !== 'toMany' || attribute.via.kind !== 'pivot' || attribute.hidden) return []
      // A pivot table that is an entity has records of its own.
      return attribute.via.owner && !watchedTables.has(attribute.via.table)
        ? [{ table, attribute: { ...attribute, name: shownName(attribute), via: attribute.via } }]
        : []
    }),
  )
  return { tables, lists }
}

function listTableFields(field: Field, { source, table }: Resource): Field[] {
  const columns = source.kind === 'joined' ? source.tables.find(part => part.table === table)!.columns : []
  const isOwn = listColumns(field).every(column => columns.includes(column))
  return isOwn ? [{ ...field, attribute: { ...field.attribute, of: undefined } } as unknown as Field] : []
}

function listColumns(field: Field): readonly string[] {
  if (field.kind === 'embedded') return field.fields.flatMap(listColumns)
  const { attribute } = field
  if (attribute.kind === 'toOne' || attribute.kind === 'toOneOf') return attribute.columns
  return attribute.kind === 'scalar' && 'column' in attribute.source ? [attribute.source.column] : []
}

function findResource(entity: object, models: readonly Model[]): Resource {
  const serving = models.find(model => model.byEntity.has(entity))
  return serving?.byEntity.get(entity) ?? models[0]!.entities.find(resource => resource.entity === entity)!
}

function listHolder({ open }: Resource): Field[] {
  return open === undefined ? [] : [{ kind: 'scalar', attribute: open.holder }]
}

/** Leaves out computed attributes, and relations whose key is in the other table. */
function listRowFields(field: Field): Field[] {
  switch (field.kind) {
    case 'scalar': {
      const { kind } = field.attribute.source
      return kind === 'column' || kind === 'document' ? [field] : []
    }
    case 'reference': {
      const { attribute } = field
      if (!attribute.owner || attribute.formula !== undefined) return []
      return attribute.ids === undefined ? [field] : [{ kind: 'reference', attribute: { ...attribute, name: attribute.ids } }]
    }
    case 'oneOf':
      return [field]
    case 'embedded': {
      const fields = field.fields.flatMap(listRowFields)
      return fields.length === 0 ? [] : [{ ...field, fields }]
    }
    default:
      return []
  }
}

interface RowState {
  readonly resource: string
  readonly id: string | number
  /** The ID that clients know, if other than `id`. */
  shown: string | number | undefined
  /** The row has changed, not only a list of the record. */
  row: boolean
  before: JsonRecord | null
  after: JsonRecord | null
  readonly lists: Map<string, { readonly before: readonly unknown[]; after: readonly unknown[] }>
}

/** In the order of first changes. Insert and update make an insert, insert and delete nothing, delete and insert an update. */
export function computeNetChanges(raw: readonly RawChange[]): Change[] {
  const states = new Map<string, RowState>()
  const findState = (resource: string, id: string | number): RowState => {
    const key = `${resource}\0${id}`
    let state = states.get(key)
    if (state === undefined)
      states.set(key, (state = { resource, id, shown: undefined, row: false, before: {}, after: {}, lists: new Map() }))
    return state
  }
  const moved = (table: WatchedTable, before: RowImage | undefined, after: RowImage | undefined): void => {
    const state = findState(table.name, (before ?? after)!.id)
    if (!state.row) state.before = before?.record ?? null
    const { shownKey } = table.resource
    if (shownKey !== undefined) state.shown = (after ?? before)!.record[shownKey.name] as string | number
    state.row = true
    state.after = after?.record ?? null
  }
  for (const change of raw) {
    if (change.kind === 'list') {
      const state = findState(change.list.table.name, change.id)
      state.shown ??= change.shown
      const { lists } = state
      const { name } = change.list.attribute
      const known = lists.get(name)
      if (known === undefined) lists.set(name, { before: change.before, after: change.after })
      else known.after = change.after
      continue
    }
    const [before, after] = [change.before(), change.after()]
    // An update of the ID is a delete and an insert.
    if (before !== undefined && after !== undefined && before.id !== after.id) {
      moved(change.table, before, undefined)
      moved(change.table, undefined, after)
    } else {
      moved(change.table, before, after)
    }
  }
  return [...states.values()].flatMap(finishChanges)
}

function finishChanges({ resource, id, shown, row, before, after, lists }: RowState): Change[] {
  if (before === null && after === null) return []
  const merged = { before: before === null ? null : { ...before }, after: after === null ? null : { ...after } }
  let differs = row
  for (const [name, list] of lists) {
    if (list.before.length === list.after.length && list.before.every((id, index) => id === list.after[index])) continue
    differs = true
    if (merged.before !== null) merged.before[name] = list.before
    if (merged.after !== null) merged.after[name] = list.after
  }
  if (!differs) return []
  return [{ type: before === null ? 'insert' : after === null ? 'delete' : 'update', resource, id: shown ?? id, ...merged }]
}
