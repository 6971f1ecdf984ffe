/**
 * Find renames: which column that the model lacks may be which column that the database lacks, by place, type and name. They are only asked
 * about, never taken.
 */
import leven from 'leven'
import { words } from '../../model/resource-names.ts'

/** A column that is on one side only. */
export interface LoneColumn {
  readonly name: string
  /** What its values are, in words that both sides share. */
  readonly type: string
  /** The place among the columns of its table. */
  readonly place: number
}

/** How sure a pair must be. */
const LEAST = 3

/** A column that may be another one by a new name. */
interface FoundRename {
  readonly from: string
  readonly to: string
  /** Whether the place or the name says so, and not only the type. */
  readonly isLikely: boolean
}

/** Returns pairs of an old column and a new one. Each column is in one at most. */
export function findRenames(old: readonly LoneColumn[], added: readonly LoneColumn[]): FoundRename[] {
  const pairs = old
    .flatMap(from =>
      added.map(to => ({
        from: from.name,
        to: to.name,
        isLikely: from.place === to.place || rateNames(from.name, to.name) > 0,
        score: rate(from, to, old.length === 1 && added.length === 1),
      })),
    )
    .filter(({ score }) => score >= LEAST)
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

/** Of one type: 2; in the same place: 2, next to it: 1; by a similar name: up to 2; the only ones: 1. */
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
