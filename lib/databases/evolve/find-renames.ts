/**
 * Find renames: pairs a column that the model lacks with a column that the database lacks, by place, type and name, and asks about the
 * pair.
 */
import leven from 'leven'
import { words } from '../../model/resource-names.ts'
import { name } from '../sql/sql.ts'
import type { Plan } from './plan.ts'
import type { AskedRename, EvolveRequest } from './request.ts'

export interface LoneColumn {
  readonly name: string
  /** In words that both sides share. */
  readonly type: string
  /** Among the columns of the table. */
  readonly place: number
}

const LEAST_SCORE = 3

interface FoundRename {
  readonly from: string
  readonly to: string
  /** Whether the place or the name says so, not only the type. */
  readonly isLikely: boolean
}

/** Each column is in one pair at most. */
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

function rateNames(from: string, to: string): number {
  const [one, other] = [words(from), words(to)]
  if (one.some(word => word.length > 1 && word !== 'id' && other.includes(word))) return 2
  const longest = Math.max(from.length, to.length)
  return leven(from.toLowerCase(), to.toLowerCase()) <= longest / 2 ? 1 : 0
}

interface LoneColumns {
  /** The name in the database, and in the request. */
  readonly table: string
  readonly key: string
  readonly old: readonly LoneColumn[]
  readonly added: readonly LoneColumn[]
}

/** A required column gets no made-up value while an old column may be meant. */
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
 * `undefined` without a column to rename, which may be a fault.
 *
 * @param find finds a column of the table by a name
 * @param isWanted whether the entity has a column of the name
 */
export function findRenamed(
  { asked, from, to }: AskedRename,
  table: string,
  find: (column: string) => string | undefined,
  isWanted: (column: string) => boolean,
  plan: Plan,
): string | undefined {
  const old = from.map(find).find(column => column !== undefined && !isWanted(column))
  const isThere = find(to) !== undefined
  if (old === undefined) {
    // From the second start on, the new name exists.
    if (!isThere)
      plan.faults.push(`"${asked}" cannot be renamed, since "${table}" has no column ${from.map(name).slice(0, 2).join(' or ')}`)
    return undefined
  }
  if (!isThere) return old
  plan.faults.push(`${table}.${old} cannot become "${to}", since the table has both columns: --drop drops the one that the model lacks`)
  return undefined
}
