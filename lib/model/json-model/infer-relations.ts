/**
 * Finds relations in JSON data. By its name, `userId` may link `users`, if the values are IDs there. "1" and 1 meet, and a few records may
 * be missing. A rejected relation becomes a note.
 */
import type { CollectionDraft } from './infer-model.ts'
import { shorten, readLink, readValue } from './infer-values.ts'
import { toPlural, toSingular, words } from '../resource-names.ts'

export interface Relation {
  readonly kind: 'toOne' | 'toMany'
  readonly key: string
  readonly name: string
  readonly source: CollectionDraft
  readonly target: CollectionDraft
  /** IDs of missing records. */
  readonly gone: ReadonlySet<unknown>
}

/** A relation suggested by a key's name. */
interface Proposal {
  readonly kind: Relation['kind']
  readonly name: string
  readonly target: CollectionDraft
  /** As `userId`. Others, such as `planId`, may be plain attributes without a note. */
  readonly isClear: boolean
  /** As `userId`, not `user`. */
  readonly isOfIds: boolean
}

/** A link to a missing record. */
interface GoneLink {
  readonly index: number
  readonly id: unknown
}

type Verdict = { readonly objection: string } | { readonly gone: readonly GoneLink[]; readonly converts: boolean }

export function inferRelations(source: CollectionDraft, drafts: readonly CollectionDraft[]): Relation[] {
  const relations: Relation[] = []
  for (const key of source.keys) {
    if (key === source.idKey) continue
    const proposals = findProposals(key, source, drafts)
    const judged = proposals.map(proposal => ({ ...proposal, ...judge(key, proposal, source, relations) }))
    const fitting = judged.filter(each => 'gone' in each)
    const whole = fitting.filter(({ gone }) => gone.length === 0)
    const proved = whole.length > 0 ? whole : fitting
    const [found] = proved
    if (found !== undefined && (proved.length === 1 || found.isClear)) {
      reportLinks(key, source, found)
      const gone = new Set(found.gone.map(({ id }) => id))
      relations.push({ kind: found.kind, key, name: found.name, source, target: found.target, gone })
      continue
    }
    if (proved.length > 1) {
      const names = proved.map(({ target }) => target.name).join(' or ')
      source.notes.push(`${source.name}.${key} is a plain attribute: its values are IDs of ${names}`)
      continue
    }
    const missed = judged.find(({ isClear, target }) => isClear || isNearlyRelation(key, source, target))
    if (missed !== undefined && 'objection' in missed) source.notes.push(`${source.name}.${key} is a plain attribute: ${missed.objection}`)
  }
  return relations
}

function reportLinks(
  key: string,
  source: CollectionDraft,
  { kind, target, gone, converts }: Pick<Proposal, 'kind' | 'target'> & Extract<Verdict, { readonly gone: unknown }>,
): void {
  const [given, needed] = target.idType === 'integer' ? ['strings', 'integers'] : ['integers', 'strings']
  if (converts) source.report(`${source.name}.${key} has ${given}, and the IDs of ${target.name} are ${needed}`, `so it has ${needed} here`)
  const [first] = gone
  if (first === undefined) return
  const more = gone.length > 1 ? `, and ${gone.length - 1} more such links` : ''
  const place = source.single ? source.name : source.at(first.index)
  source.report(
    `${place}.${key} ${kind === 'toOne' ? 'is' : 'has'} ${shorten(first.id)}, the ID of no record of ${target.name}${more}`,
    kind === 'toOne' ? 'so it is null here' : 'so it is left out here',
  )
}

function findProposals(key: string, source: CollectionDraft, drafts: readonly CollectionDraft[]): Proposal[] {
  const { stem, isMany } = splitKey(key)
  const parts = words(stem ?? key)
  if (parts.length === 0) return []
  const keyWords = listSingularWords(parts)
  const others = drafts.filter(({ single, records }) => !single && records.length > 0)
  const nameWords = (draft: CollectionDraft): string[] => listSingularWords(words(draft.name))
  const named = others.find(draft => nameWords(draft).join(' ') === keyWords.join(' '))
  const exact = named ?? (keyWords.join(' ') === PARENT && others.includes(source) ? source : undefined)
  if (stem === undefined) {
    // `user` or `tags` are relations only if values are IDs.
    if (exact === undefined) return []
    const kind = listValues(key, source).some(Array.isArray) ? 'toMany' : 'toOne'
    return [{ kind, name: key, target: exact, isClear: false, isOfIds: false }]
  }
  const kind = isMany ? 'toMany' : 'toOne'
  const name = isMany ? toPlural(stem) : stem
  if (exact !== undefined) return [{ kind, name, target: exact, isClear: true, isOfIds: true }]
  const isEndOf = (end: readonly string[], of: readonly string[]): boolean =>
    end.length < of.length && end.every((word, index) => word === of[of.length - end.length + index])
  const similar = others.filter(draft => {
    const draftWords = nameWords(draft)
    return draftWords.length > 0 && (isEndOf(draftWords, keyWords) || isEndOf(keyWords, draftWords))
  })
  const longest = Math.max(0, ...similar.map(draft => nameWords(draft).length))
  // For `adminUserId`, `adminUsers` is nearer than `users`.
  return similar
    .filter(draft => !isEndOf(nameWords(draft), keyWords) || nameWords(draft).length === longest)
    .map(target => ({ kind, name, target, isClear: false, isOfIds: true }))
}

/** Names another record of the collection. */
const PARENT = 'parent'

/** Splits `userId`, `user_ids`, `idUser`. */
function splitKey(key: string): { stem: string | undefined; isMany: boolean } {
  const [, before, suffix = ''] = /^(.+?)(_ids?|Ids?|ID|IDs|_uuid|Uuid)$/.exec(key) ?? []
  if (before !== undefined) return { stem: before, isMany: suffix.endsWith('s') }
  const [, ids = '', after] = /^(ids?)(?:_(?=.)|(?=[A-Z]))(.+)$/.exec(key) ?? []
  if (after !== undefined) return { stem: after.charAt(0).toLowerCase() + after.slice(1), isMany: ids === 'ids' }
  return { stem: undefined, isMany: false }
}

function listSingularWords(parts: readonly string[]): string[] {
  return parts.map((word, index) => (index === parts.length - 1 ? toSingular(word) || word : word))
}

function listValues(key: string, { records }: CollectionDraft): unknown[] {
  return records.map(record => readValue(record, key)).filter(value => value !== null)
}

export function listLinks(key: string, source: CollectionDraft): unknown[] {
  return listValues(key, source).flat()
}

export function toIdType({ idType }: CollectionDraft): 'integer' | 'text' {
  return idType === 'integer' ? 'integer' : 'text'
}

function judge(key: string, proposal: Proposal, source: CollectionDraft, others: readonly Relation[]): Verdict {
  const { kind, name, target, isClear, isOfIds } = proposal
  if ((name !== key && source.keys.includes(name)) || others.some(other => other.name === name))
    return { objection: `the records have a "${name}" as well` }
  if (!target.hasIds) return { objection: `the records of ${target.name} have no IDs` }
  const [idType, isRead] = [toIdType(target), isOfIds || target.isMixed]
  const gone: GoneLink[] = []
  let fitting = 0
  let converts = false
  for (const [index, record] of source.records.entries()) {
    const value = readValue(record, key)
    if (value === null) continue
    const at = source.single ? '' : ` of ${source.at(index)}`
    if (kind === 'toMany' && !Array.isArray(value)) return { objection: `the value${at} is not an array` }
    const given = kind === 'toMany' ? (value as readonly unknown[]) : [value]
    const ids = isRead ? given.map(id => readLink(id, idType)) : given
    converts ||= !target.isMixed && ids.some((id, place) => id !== given[place])
    for (const [place, id] of ids.entries())
      if (target.idSet.has(id)) fitting++
      else if (isOfIds && isUsableId(id, idType)) gone.push({ index, id })
      else return { objection: `${shorten(given[place])}${at} ${describeStranger(given[place], target)}` }
    if (ids.length > 1 && new Set(ids).size < ids.length) return { objection: `the value${at} names a record twice` }
  }
  const [first] = gone
  if (first !== undefined && gone.length > Math.max(fitting, isClear ? 1 : 0))
    return { objection: `${shorten(first.id)} of ${source.at(first.index)} is not the ID of any record of ${target.name}` }
  return fitting > 0 || isClear ? { gone, converts } : { objection: 'it has no values' }
}

/** Some files have 0, -1 or an empty text for no link. */
function isUsableId(id: unknown, idType: 'integer' | 'text'): boolean {
  if (idType === 'integer') return Number.isSafeInteger(id) && (id as number) > 0
  return typeof id === 'string' && id.isWellFormed() && !['', '0', '-1'].includes(id)
}

function describeStranger(value: unknown, { name, idType, idSet }: CollectionDraft): string {
  const isText = idType !== 'integer'
  const other = typeof value === 'number' ? String(value) : typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : undefined
  if (other !== undefined && idSet.has(other))
    return isText ? `is a number, and the IDs of ${name} are strings` : `is a string, and the IDs of ${name} are integers`
  return `is not the ID of any record of ${name}`
}

/** Most values are IDs: maybe meant as a relation. */
function isNearlyRelation(key: string, source: CollectionDraft, { idSet, hasIds }: CollectionDraft): boolean {
  if (!hasIds) return false
  const values = listValues(key, source).flat()
  const fitting = values.filter(
    value => idSet.has(value) || idSet.has(String(value)) || (typeof value === 'string' && idSet.has(Number(value))),
  )
  return values.length > 0 && fitting.length * 2 > values.length
}

/** In a circle, relations may be null: records requiring each other could never be created. */
export function findCyclicRelations(relations: readonly Relation[]): ReadonlySet<Relation> {
  const toOnes = relations.filter(({ kind }) => kind === 'toOne')
  const leadsBack = (relation: Relation): boolean => {
    const reached = new Set<CollectionDraft>()
    const open = [relation.target]
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (next === relation.source) return true
      if (reached.has(next)) continue
      reached.add(next)
      for (const { source, target } of toOnes) if (source === next) open.push(target)
    }
    return false
  }
  return new Set(toOnes.filter(leadsBack))
}
