/** Infer relations: a key's name proposes a target, and all values must be the target's IDs. A rejected proposal becomes a note. */
import type { CollectionDraft } from './infer-model.ts'
import { shorten, readValue, toText } from './infer-values.ts'
import { toPlural, toSingular, words } from '../resource-names.ts'

export interface Relation {
  readonly kind: 'toOne' | 'toMany'
  readonly key: string
  readonly name: string
  readonly source: CollectionDraft
  readonly target: CollectionDraft
}

/** Suggested by a key's name. */
interface Proposal {
  readonly kind: Relation['kind']
  readonly name: string
  readonly target: CollectionDraft
  /** Whether the name clearly means a relation: `userId`. Others, such as `user` or `planId`, may be plain attributes without a note. */
  readonly isClear: boolean
}

export function inferRelations(source: CollectionDraft, drafts: readonly CollectionDraft[]): Relation[] {
  const relations: Relation[] = []
  for (const key of source.keys) {
    if (key === source.idKey) continue
    const proposals = findProposals(key, source, drafts)
    const judged = proposals.map(proposal => ({ ...proposal, reason: findObjection(key, proposal, source, relations) }))
    const proved = judged.filter(({ reason }) => reason === undefined)
    const [found] = proved
    if (found !== undefined && (proved.length === 1 || found.isClear)) {
      relations.push({ kind: found.kind, key, name: found.name, source, target: found.target })
      continue
    }
    if (proved.length > 1) {
      const names = proved.map(({ target }) => target.name).join(' or ')
      source.notes.push(`${source.name}.${key} is a plain attribute: its values are IDs of ${names}`)
      continue
    }
    const missed = judged.find(({ isClear, target }) => isClear || isNearlyRelation(key, source, target))
    if (missed !== undefined) source.notes.push(`${source.name}.${key} is a plain attribute: ${missed.reason}`)
  }
  return relations
}

function findProposals(key: string, source: CollectionDraft, drafts: readonly CollectionDraft[]): Proposal[] {
  const { stem, isMany } = splitKey(key)
  const parts = words(stem ?? key)
  if (parts.length === 0) return []
  const keyWords = listSingularWords(parts)
  const others = drafts.filter(({ single, records }) => !single && records.length > 0)
  const nameWords = (draft: CollectionDraft): string[] => listSingularWords(words(draft.name))
  const exact = others.find(draft => nameWords(draft).join(' ') === keyWords.join(' '))
  if (stem === undefined) {
    // `user` or `tags` propose a relation only if the values are IDs.
    if (exact === undefined) return []
    const kind = listValues(key, source).some(Array.isArray) ? 'toMany' : 'toOne'
    return [{ kind, name: key, target: exact, isClear: false }]
  }
  const kind = isMany ? 'toMany' : 'toOne'
  const name = isMany ? toPlural(stem) : stem
  if (exact !== undefined) return [{ kind, name, target: exact, isClear: true }]
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
    .map(target => ({ kind, name, target, isClear: false }))
}

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

function findObjection(
  key: string,
  { kind, name, target, isClear }: Proposal,
  source: CollectionDraft,
  others: readonly Relation[],
): string | undefined {
  if ((name !== key && source.keys.includes(name)) || others.some(other => other.name === name))
    return `the records have a "${name}" as well`
  if (!target.hasIds) return `the records of ${target.name} have no IDs`
  let isProved = false
  for (const [index, record] of source.records.entries()) {
    const value = readValue(record, key)
    if (value === null) continue
    const at = source.single ? '' : ` of ${source.at(index)}`
    if (kind === 'toMany' && !Array.isArray(value)) return `the value${at} is not an array`
    const given = kind === 'toMany' ? (value as readonly unknown[]) : [value]
    const ids = target.isMixed ? given.map(toText) : given
    isProved ||= ids.length > 0
    const stranger = ids.find(id => !target.idSet.has(id))
    if (stranger !== undefined) return `${shorten(stranger)}${at} ${describeStranger(stranger, target)}`
    if (ids.length > 1 && new Set(ids).size < ids.length) return `the value${at} names a record twice`
  }
  return isProved || isClear ? undefined : 'it has no values'
}

function describeStranger(value: unknown, { name, idType, idSet }: CollectionDraft): string {
  const isText = idType !== 'integer'
  const other = typeof value === 'number' ? String(value) : typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : undefined
  if (other !== undefined && idSet.has(other))
    return isText ? `is a number, and the IDs of ${name} are strings` : `is a string, and the IDs of ${name} are integers`
  return `is not the ID of any record of ${name}`
}

/** Whether most values are IDs: the author may have meant a relation. */
function isNearlyRelation(key: string, source: CollectionDraft, { idSet, hasIds }: CollectionDraft): boolean {
  if (!hasIds) return false
  const values = listValues(key, source).flat()
  const fitting = values.filter(
    value => idSet.has(value) || idSet.has(String(value)) || (typeof value === 'string' && idSet.has(Number(value))),
  )
  return values.length > 0 && fitting.length * 2 > values.length
}

/** Finds relations back to their own collection, which may be null: records that require each other could not be created in turn. */
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
