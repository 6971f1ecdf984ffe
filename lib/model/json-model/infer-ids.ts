/** Finds the key of a collection, and the IDs. A missing, invalid or repeated ID becomes a new number, unless `report` refuses. */
import { shorten, readValue } from './infer-values.ts'
import type { JsonObject } from '../../foundation/json/json.ts'

export interface InferredIds {
  readonly idKey: string
  /** False: numbered from 1. */
  readonly hasIds: boolean
  readonly idType: 'integer' | 'text' | 'uuid'
  /** Given as numbers and as texts: all become texts. */
  readonly isMixed: boolean
  /** In record order. */
  readonly ids: readonly (number | string)[]
}

/** Halves of a sentence. */
export type ReportOddity = (problem: string, remedy: string) => void

/** The usual key. */
const ID = 'id'
/** For collections without `id`. */
const OTHER_IDS = ['_id', 'Id', 'ID', 'uuid'] as const

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/**
 * @param at names a record
 * @param wanted the chosen key, if a record has one
 */
export function inferIds(
  records: readonly JsonObject[],
  at: (index: number) => string,
  report: ReportOddity,
  wanted?: string,
): InferredIds {
  const idKey = findIdKey(records, wanted)
  const given = idKey === undefined ? [] : records.map(record => readValue(record, idKey))
  if (idKey === undefined || given.every(id => id === null)) {
    if (given.length > 0 && records.some(record => Object.hasOwn(record, ID)))
      report(`the "id" of ${at(0)} is null; an ID is an integer or a string`, 'so the records are numbered')
    return { idKey: ID, hasIds: records.length === 0, idType: 'integer', isMixed: false, ids: records.map((_, index) => index + 1) }
  }
  const first = given.findIndex(isId)
  const texts = given.some(id => typeof id === 'string' && isId(id))
  const isMixed = texts && given.some(id => typeof id === 'number' && isId(id))
  if (isMixed) {
    const other = given.findIndex(id => isId(id) && typeof id !== typeof given[first])
    report(
      `the "${idKey}" of ${at(other)} is ${JSON.stringify(given[other])} and that ` +
        `of ${at(first)} is ${JSON.stringify(given[first])}: they must be of one type`,
      'so all are strings',
    )
  }
  const ids = resolveRepeats({ given, idKey, isText: texts, at, first }, report)
  const isUuid = texts && ids.every(id => UUID.test(id as string))
  return { idKey, hasIds: true, idType: isUuid ? 'uuid' : texts ? 'text' : 'integer', isMixed, ids }
}

function isId(id: unknown): boolean {
  return typeof id === 'string' ? id !== '' && id.isWellFormed() : Number.isSafeInteger(id)
}

/** The chosen key, `id`, or another usual key, if distinct in all records. */
function findIdKey(records: readonly JsonObject[], wanted: string | undefined): string | undefined {
  const isThere = (key: string): boolean => records.some(record => Object.hasOwn(record, key) && record[key] !== undefined)
  if (wanted !== undefined && isThere(wanted)) return wanted
  if (isThere(ID)) return ID
  return OTHER_IDS.find(key => {
    if (records.length === 0) return false
    const values = records.map(record => readValue(record, key))
    return values.every(isId) && new Set(values.map(String)).size === values.length
  })
}

interface GivenId {
  readonly given: readonly unknown[]
  readonly idKey: string
  readonly isText: boolean
  readonly at: (index: number) => string
  readonly first: number
}

/** Invalid and repeated IDs become the next integers; as texts, free numbers. */
function resolveRepeats({ given, idKey, isText, at, first }: GivenId, report: ReportOddity): (number | string)[] {
  const seen = new Map<number | string, number>()
  const odd: number[] = []
  const ids = given.map((value, index): number | string => {
    if (!isId(value)) {
      odd.push(index)
      return 0
    }
    const id = isText ? String(value) : (value as number)
    if (seen.has(id)) odd.push(index)
    else seen.set(id, index)
    return id
  })
  if (odd.length === 0) return ids
  let next = 1
  if (!isText) for (const id of seen.keys()) next = Math.max(next, (id as number) + 1)
  if (!Number.isSafeInteger(next + odd.length)) next = 1
  const replacements = odd.map(index => {
    const reason = explainRepeat(given[index], ids[index]!, idKey, { index, first, other: seen.get(ids[index]!), at })
    while (seen.has(isText ? String(next) : next)) next++
    const id = isText ? String(next) : next
    seen.set(id, index)
    ids[index] = id
    return [reason, `so it is ${JSON.stringify(id)} here`] as const
  })
  for (const [reason, remedy] of replacements.slice(0, MAX_REPORTED)) report(reason, remedy)
  if (replacements.length > MAX_REPORTED)
    report(
      `the "${idKey}" of ${replacements.length - MAX_REPORTED} more records, the last of them ${at(odd.at(-1)!)}, is not an ID of its own`,
      'so they are numbered, too',
    )
  return ids
}

const MAX_REPORTED = 3

function explainRepeat(
  value: unknown,
  id: number | string,
  idKey: string,
  { index, first, other, at }: { index: number; first: number; other: number | undefined; at: (index: number) => string },
): string {
  if (value === null && first >= 0) return `${at(index)} has no "${idKey}", and ${at(first)} has one`
  if (!isId(value)) return `the "${idKey}" of ${at(index)} is ${shorten(value)}; an ID is an integer or a string`
  return `${at(other!)} and ${at(index)} have the same "${idKey}", ${JSON.stringify(id)}`
}
