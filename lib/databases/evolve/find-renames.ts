/**
 * A column missing in the model may be the old name of a column missing in the database. Pairs both by place, type and name, and refuses or
 * notes the pair; likewise tables.
 */
import leven from 'leven'
import { entityName, words } from '../../model/resource-names.ts'
import { name } from '../sql/sql.ts'
import type { Plan } from './plan.ts'
import type { AskedRename, AskedTable } from './read-renames.ts'
import type { EvolveRequest } from './request.ts'

export interface LoneColumn {
  readonly name: string
  /** For comparison: the same text for equal types of database and model. */
  readonly type: string
  readonly place: number
}

const LEAST_SCORE = 3

interface FoundRename {
  readonly from: string
  readonly to: string
  /** The place or name fits, not only the type. */
  readonly isLikely: boolean
}

function findRenames(old: readonly LoneColumn[], added: readonly LoneColumn[]): FoundRename[] {
  const pairs = old
    .flatMap(from =>
      added.map(to => ({
        from: from.name,
        to: to.name,
        isLikely: from.place === to.place || rateNames(from.name, to.name) > 0,
        score: rate(from, to, old.length === 1 && added.length === 1),
      })),
    )
    .filter(({ score }) => score >= LEAST_SCORE)
    .toSorted((a, b) => b.score - a.score)
  const taken = new Set<string>()
  const found: FoundRename[] = []
  for (const { from, to, isLikely } of pairs) {
    if (taken.has(`-${from}`) || taken.has(`+${to}`)) continue
    taken.add(`-${from}`).add(`+${to}`)
    found.push({ from, to, isLikely })
  }
  return found
}

/** Same type: 1; same place: 2, neighbouring place: 1; similar name: up to 2; no other columns: 1. */
function rate(from: LoneColumn, to: LoneColumn, areAlone: boolean): number {
  if (from.type !== to.type) return 0
  const distance = Math.abs(from.place - to.place)
  return 2 + (distance === 0 ? 2 : distance === 1 ? 1 : 0) + rateNames(from.name, to.name) + (areAlone ? 1 : 0) - 1
}

export function rateNames(from: string, to: string): number {
  const [one, other] = [words(from), words(to)]
  if (one.some(word => word.length > 1 && word !== 'id' && other.includes(word))) return 2
  const longest = Math.max(from.length, to.length)
  return leven(from.toLowerCase(), to.toLowerCase()) <= longest / 2 ? 1 : 0
}

interface LoneColumns {
  /** The name in the database. */
  readonly table: string
  /** The name in the request. */
  readonly key: string
  readonly old: readonly LoneColumn[]
  readonly added: readonly LoneColumn[]
}

/** Refuses a required column where an old column may be meant: a made-up value would hide the rename. */
export function askForRenames(
  { table, key, old, added }: LoneColumns,
  isNeeded: (column: string) => boolean,
  request: EvolveRequest,
  plan: Plan,
): void {
  const resource = request.resourceOf(key)
  for (const { from, to, isLikely } of findRenames(old, added)) {
    const prop = request.columns.get(key)?.get(to)?.prop.name ?? to
    plan.renames.push({ resource, from, to: prop })
    const ways = `renamed: { ${resource}: { ${from}: '${prop}' } } (--rename ${resource}.${from}=${prop})`
    if (isLikely && isNeeded(to))
      plan.faults.push(
        `${table}.${to} is new and required, and may be "${from}" by a new name: ` +
          `say ${ways}, or what rows get, fill: { ${resource}: { ${prop}: ... } }`,
      )
    else plan.stays.push(`${table}.${from}: if it is "${prop}" by a new name, say ${ways}.`)
  }
}

/**
 * @returns `undefined` for nothing to rename, perhaps with a fault. `replaces`: an earlier start has made a column of the new name
 *
 * @param isWanted the entity has a column of the name
 */
export function findRenamed(
  { asked, from, to }: AskedRename,
  table: string,
  find: (column: string) => string | undefined,
  isWanted: (column: string) => boolean,
  plan: Plan,
): { readonly old: string; readonly replaces: string | undefined } | undefined {
  const found = from.map(find).filter(column => column !== undefined)
  const old = found.find(column => !isWanted(column))
  const replaces = find(to)
  if (old !== undefined) return { old, replaces }
  // From the second start on, the new name exists.
  if (replaces !== undefined) return undefined
  plan.faults.push(
    found.length > 0
      ? `"${asked}" cannot be renamed, since the model still has a property of that name`
      : `"${asked}" cannot be renamed, since "${table}" has no column ${from.map(name).slice(0, 2).join(' or ')}`,
  )
  return undefined
}

export function refuseBoth(table: string, resource: string, old: string, to: string, plan: Plan): void {
  plan.faults.push(
    `${table}.${old} cannot become "${to}", since both columns have values: say which go, drop: ['${resource}.${old}'] ` +
      `(--drop=${resource}.${old}), and no new name, or empty "${to}"`,
  )
}

export interface FoundTable {
  readonly name: string
  readonly rows: number
}

/**
 * @returns `undefined` for nothing to rename, perhaps with a fault. `replaces`: an earlier start has made an empty table of the new name
 *
 * @param isWanted the model has a table of the name
 */
export function findRenamedTable(
  { asked, from, to, isMove = false }: AskedTable & { readonly isMove?: boolean },
  find: (table: string) => FoundTable | undefined,
  isWanted: (table: string) => boolean,
  plan: Plan,
): { readonly old: string; readonly replaces: boolean } | undefined {
  const found = from.flatMap(each => find(each) ?? [])
  const old = found.find(each => !isWanted(each.name))
  const there = find(to)
  if (old === undefined) {
    if (there !== undefined || isMove) return undefined
    plan.faults.push(
      found.length > 0
        ? `"${asked}" cannot be renamed, since the model still has the table "${found[0]!.name}"`
        : `"${asked}" cannot be renamed, since there is no table ${from.map(name).slice(0, 2).join(' or ')}`,
    )
    return undefined
  }
  if (there === undefined || there.rows === 0) return { old: old.name, replaces: there !== undefined }
  if (old.rows > 0)
    plan.faults.push(
      `the table "${old.name}" cannot become "${to}", since both have rows: ` +
        `say drop: ['${old.name}'] (--drop=${old.name}), and no new name, or empty "${to}"`,
    )
  return undefined
}

/** @param triggers made by hand on the empty table */
export function refuseTriggers(table: string, triggers: readonly string[], plan: Plan): boolean {
  if (triggers.length === 0) return false
  plan.faults.push(
    `the empty table "${table}" cannot make room for one by a new name, since triggers by hand would go with "${table}": ` +
      `${triggers.map(each => `"${each}"`).join(', ')}: drop them first, and make them again`,
  )
  return true
}

export interface LoneTable {
  readonly name: string
  readonly columns: readonly string[]
}

/** The least share of common columns, of the larger table's columns. */
const LEAST_SHARE = 0.6
const LEAST_SHARE_OF_LIKE_NAMES = 0.3

export function askForTables(old: readonly LoneTable[], added: readonly LoneTable[], request: EvolveRequest, plan: Plan): void {
  const pairs = old
    .flatMap(from => added.map(to => ({ from, to, share: rateTables(from, to) })))
    .filter(({ share }) => share > 0)
    .toSorted((a, b) => b.share - a.share)
  const taken = new Set<LoneTable>()
  for (const { from, to } of pairs) {
    if (taken.has(from) || taken.has(to)) continue
    taken.add(from).add(to)
    const [entity, was] = [request.entityOf(to.name), entityName(from.name) ?? from.name]
    if (entity === undefined) continue
    plan.renames.push({ resource: 'entities', from: was, to: entity })
    const way = `renamed: { entities: { ${was}: '${entity}' } } (--rename ${from.name}=${request.resourceOf(to.name)})`
    plan.hints.push(`if "${from.name}" is ${entity} by a new name, say ${way}`)
  }
}

function rateTables(from: LoneTable, to: LoneTable): number {
  const [one, other] = [from, to].map(({ columns }) => columns.map(each => each.toLowerCase()).filter(each => each !== 'id')) as [
    string[],
    string[],
  ]
  const shared = one.filter(each => other.includes(each)).length
  const share = shared / Math.max(one.length, other.length, 1)
  return shared > 0 && share >= (rateNames(from.name, to.name) > 0 ? LEAST_SHARE_OF_LIKE_NAMES : LEAST_SHARE) ? share : 0
}
