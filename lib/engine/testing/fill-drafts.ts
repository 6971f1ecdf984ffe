/**
 * Draws the made-up values of drafts, until unique sets are free among rows and drafts. Rejects an attribute whose type takes no made-up
 * value.
 */
import { restError, type RestError } from '../../foundation/errors/errors.ts'
import type { Statement } from '../../records/database/dialect.ts'
import type { RowConnection } from '../../records/database/connection.ts'
import { keyFromJson } from '../../model/key.ts'
import type { Attribute, Resource, ScalarAttribute } from '../../model/model.ts'
import { planRows } from '../../records/statements/plan-rows.ts'
import { readExists } from '../../records/read/run-read.ts'
import { readScalar } from '../../foundation/values/scalar-type.ts'
import { isObject } from '../../foundation/json/json.ts'
import { countDomain, fakeValues } from './fake-values.ts'
import type { Readable } from './faker-text.ts'
import { Random } from './random.ts'
import type { RecordDraft, Slot } from './draft.ts'
import type { RecordDrafts } from './record-drafts.ts'

type DraftPart =
  | { readonly kind: 'slot'; readonly attribute: Attribute; readonly slot: Slot }
  | { readonly kind: 'given'; readonly attribute: Attribute; readonly values: readonly unknown[] }
  | { readonly kind: 'owner'; readonly attribute: Attribute; readonly owner: RecordDraft }

interface UniqueSet {
  readonly resource: Resource
  /** Sets of equal attributes have equal names. */
  readonly name: string
  readonly parts: readonly DraftPart[]
}

function isSlot(part: DraftPart): boolean {
  return part.kind === 'slot'
}

/**
 * The unique sets that may conflict with rows or drafts. NULL cannot conflict, nor a parent made for this record. Attributes with a default
 * are left out: the rest is then made unique.
 */
function findUniqueSets(draft: RecordDraft): UniqueSet[] {
  const { resource } = draft
  const isKeyMade = !resource.generatedKey || draft.slots.some(({ attribute }) => attribute.primary)
  return [...resource.uniques, ...(isKeyMade ? [resource.keyNames] : [])].flatMap(paths => {
    const parts: DraftPart[] = []
    for (const path of paths) {
      const part = findPart(draft, path)
      if (part === 'free') return []
      if (part !== 'left out') parts.push(part)
    }
    const isWhole = parts.length === paths.length
    if (parts.length === 0 || (!isWhole && !parts.some(isSlot))) return []
    return [
      { resource, name: `${resource.className} ${parts.map(({ attribute }) => attribute.property).join()} of ${paths.join()}`, parts },
    ]
  })
}

function findPart(draft: RecordDraft, path: string): DraftPart | 'free' | 'left out' {
  const { resource, slots, implied } = draft
  const slot = slots.find(each => each.path === path)
  if (slot !== undefined) return { kind: 'slot', attribute: slot.attribute, slot }
  const [name = '', ...inner] = path.split('.')
  let attribute = resource.byName.get(name)
  if (attribute === undefined) return 'left out'
  if (implied?.name === name) return { kind: 'owner', attribute, owner: implied.owner }
  let value = draft.body[name]
  for (const child of inner) {
    attribute = attribute?.kind === 'embedded' ? attribute.byName.get(child) : undefined
    value = isObject(value) ? value[child] : undefined
  }
  if (attribute === undefined || value === undefined) return 'left out'
  if (value === null) return 'free'
  if (attribute.kind === 'scalar') {
    const typed = readScalar(value, attribute.type)
    // Validation will refuse the value.
    return typed === undefined ? 'free' : { kind: 'given', attribute, values: [typed] }
  }
  // Of an ID that is no primary key, the row is not known yet.
  const target = attribute.kind === 'toOne' && !isObject(value) && attribute.target.shownKey === undefined ? attribute.target : undefined
  const key = target && keyFromJson(value, target)
  return key === undefined ? 'free' : { kind: 'given', attribute, values: key }
}

function readValues(part: DraftPart): readonly unknown[] {
  if (part.kind === 'given') return part.values
  if (part.kind === 'owner') return []
  const { attribute, holder } = part.slot
  return [readScalar(holder[attribute.name], attribute.type)]
}

const ROUNDS = 20
const WHOLE = { filters: [], limit: 1, offset: 0, key: [] } as const

export class DraftFiller {
  readonly #drafts: readonly RecordDraft[]
  readonly #connection: RowConnection
  readonly #readable: Readable | undefined
  readonly #now: number | undefined
  readonly #seen = new Set<string>()
  readonly #statements = new Map<string, Statement | undefined>()
  readonly #numbers: ReadonlyMap<RecordDraft, number>

  constructor({ all }: RecordDrafts, connection: RowConnection, readable: Readable | undefined, now: number | undefined) {
    this.#drafts = all
    this.#connection = connection
    this.#readable = readable
    this.#now = now
    this.#numbers = new Map(all.map((draft, index) => [draft, index]))
  }

  /** To call inside the transaction of the insert. */
  async fill(): Promise<void> {
    const sets = new Map(this.#drafts.map(draft => [draft, findUniqueSets(draft)]))
    // An earlier record must not take the caller's values.
    for (const all of sets.values()) for (const set of all) if (!set.parts.some(isSlot)) this.#seen.add(this.#formatSet(set))
    for (const [draft, all] of sets) {
      const unfinished = all.filter(({ parts }) => parts.some(isSlot))
      for (let round = 0; round < ROUNDS; round++) if (await this.#draw(draft, unfinished, round)) break
      for (const set of unfinished) this.#seen.add(this.#formatSet(set))
    }
  }

  async #draw({ resource, slots, stream }: RecordDraft, sets: readonly UniqueSet[], round: number): Promise<boolean> {
    // The widest choice comes last, when most conflicts are known.
    const ordered = slots.toSorted((a, b) => countDomain(a.attribute.type) - countDomain(b.attribute.type))
    let isFree = true
    for (const [index, { attribute, holder, path, bearer }] of ordered.entries()) {
      const decided = sets.filter(({ parts }) => parts.every(part => part.kind !== 'slot' || ordered.indexOf(part.slot) <= index))
      const setsToCheck = decided.filter(({ parts }) => parts.some(part => part.kind === 'slot' && part.slot === ordered[index]))
      const random = new Random(`${stream}/${path}${round === 0 ? '' : `/${round}`}`)
      const values =
        this.#nextKey(resource, attribute) ?? fakeValues(attribute, { random, readable: this.#readable, now: this.#now, bearer })
      let first: unknown
      let isTaken = true
      for (const value of values) {
        first ??= value
        holder[attribute.name] = value
        isTaken = await this.#isTaken(setsToCheck)
        if (!isTaken) break
      }
      if (first === undefined) throw unmadeError(attribute, path)
      if (isTaken) holder[attribute.name] = first
      isFree &&= !isTaken
    }
    return isFree
  }

  /** The next key, if the engine counts keys. */
  #nextKey(resource: Resource, attribute: ScalarAttribute): readonly number[] | undefined {
    const stored = attribute.primary && resource.generatedKey ? planRows(resource)?.stored : undefined
    const key = stored === undefined ? undefined : this.#connection.takeKey(stored, undefined)
    return typeof key === 'number' && attribute.type.kind === 'integer' ? [key] : undefined
  }

  async #isTaken(sets: readonly UniqueSet[]): Promise<boolean> {
    for (const set of sets) if (this.#seen.has(this.#formatSet(set)) || (await this.#exists(set))) return true
    return false
  }

  async #exists({ resource, name, parts }: UniqueSet): Promise<boolean> {
    // No row refers to an unfinished record.
    if (parts.some(({ kind }) => kind === 'owner')) return false
    const { dialect } = this.#connection
    if (!this.#statements.has(name)) {
      const attributes = parts.map(({ attribute }) => ({ attribute, given: true }))
      this.#statements.set(name, dialect.taken(resource, attributes, false))
    }
    const statement = this.#statements.get(name)
    if (statement === undefined) return false
    return this.#connection.read(() => readExists(statement, { ...WHOLE, given: parts.flatMap(readValues) }, dialect))
  }

  #formatSet({ name, parts }: UniqueSet): string {
    const texts = parts.map(part =>
      part.kind === 'owner'
        ? `of ${this.#numbers.get(part.owner)}`
        : JSON.stringify(readValues(part).map(value => (typeof value === 'bigint' ? value.toString() : value))),
    )
    return `${name} ${texts.join()}`
  }
}

function unmadeError({ name }: ScalarAttribute, path: string): RestError {
  const why = "has a type of the model's own, which takes none of the values that can be made up"
  const detail = `given: "${path}" ${why}: give it, { ${name}: ... }.`
  return restError('validation_failed', detail, { errors: [{ code: 'required', detail, attribute: path }] })
}
