/**
 * Given: minimal valid graphs. What the caller leaves out and the model needs is made up, parents included; the whole is then inserted like a seed, in
 * one transaction, and read back as the API shows it. The same seed and the same data give the same records.
 * Refuses with resource_unknown, body_invalid, validation_failed, unique_conflict.
 */
import { CheckConstraintViolationException } from '@mikro-orm/core'
import type { EntityManager } from '@mikro-orm/core'
import type { Clock } from '../base/clock.ts'
import type { HookContext } from '../request/hook-context.ts'
import type { Connection, Dialect, Statement } from '../database/dialect.ts'
import { RestError, restError } from '../base/errors.ts'
import type { FieldError } from '../base/errors.ts'
import { FieldErrors } from '../base/body-errors.ts'
import { domainOf, fakeValues } from './fake-values.ts'
import { assertJson, toJson } from '../base/json.ts'
import { keyFromJson } from '../model/key.ts'
import type {
  Attribute,
  EmbeddedAttribute,
  Model,
  RelationAttribute,
  Resource,
  ScalarAttribute,
  ToOneAttribute,
  ToOneOfAttribute,
} from '../model/model.ts'
import { keyOfEntity } from '../model/entity-key.ts'
import { NO_PARAMETERS } from '../request/query-string.ts'
import { Random } from './random.ts'
import { loadReadable } from './faker-text.ts'
import type { Readable } from './faker-text.ts'
import type { Reader } from '../read/reader.ts'
import { readExists } from '../read/run-read.ts'
import { readScalar } from '../values/scalar-type.ts'
import { insert } from '../write/seed.ts'
import { checkNames, formatHint, findNearest } from '../base/suggest.ts'
import { classAsked, isObject, isOfClass, filledSide, owningName, validateRecord } from '../write/validate-record.ts'
import { EVERYTHING } from '../plan/visibility.ts'
import { translateDatabaseError } from '../write/writer.ts'

/** Options of `engine.given` and `engine.given.many`. */
export interface GivenOptions {
  /** An integer that all made-up values follow from. Default: 1 in the first call without one, then 2, and so on. */
  readonly seed?: number
}

/** What is not to be made up: attributes as in a body of POST. An object in a relation is completed too, an ID links, a number in a list makes so many. */
export type Overrides = Readonly<Record<string, unknown>>

/** A record as the API shows it. */
export type GivenRecord = Record<
  string,
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read records freely: what they hold follows from the model
  any
>

/** `engine.given`. */
export interface Give {
  /**
   * Inserts one record with all that the model needs, made up where the overrides leave it out: attributes and parents.
   *
   * @param name of the resource, singular or plural
   * @returns the record as the API shows it
   * @throws RestError when the overrides, or the made-up values, are refused by the model; nothing is inserted then. TypeError, RangeError for options that are not of their form.
   * @example const order = await engine.given('order', { customer: { vip: true }, items: 3 }, { seed: 7 })
   */
  (name: string, overrides?: Overrides, options?: GivenOptions): Promise<GivenRecord>
  /**
   * Inserts many records in one transaction, each with parents of its own unless the overrides link one.
   *
   * @param overrides for all of them, or a function of the index of each, from 0 on
   * @returns the records in order
   * @throws as `given` does; the paths of faults begin with the index of the record.
   * @example const orders = await engine.given.many('order', 20, index => ({ number: `A-${index}` }))
   */
  many(name: string, count: number, overrides?: Overrides | ((index: number) => Overrides), options?: GivenOptions): Promise<GivenRecord[]>
}

/** What records are made with. */
export interface GivenServices {
  readonly model: Model
  readonly connection: Connection
  readonly reader: Reader
  readonly clock: Clock
  /** What renderers are told of, as in the answer to a POST of the resource. */
  readonly context: (resource: Resource) => HookContext
}

/** Makes records; its only state is the seed of the next call that has none of its own. */
export class Given {
  /** To be copied with the data: the same calls then make the same records. */
  nextSeed = 1
  readonly #services: GivenServices

  constructor(services: GivenServices) {
    this.#services = services
  }

  /** @param check throws when records can no longer be made */
  asFunction(check: () => void): Give {
    const one = async (...given: Parameters<Given['one']>): Promise<GivenRecord> => {
      check()
      return this.one(...given)
    }
    const many: Give['many'] = async (...given) => {
      check()
      return this.many(...given)
    }
    return Object.assign(one, { many })
  }

  async one(name: string, overrides: Overrides = {}, options: GivenOptions = {}): Promise<GivenRecord> {
    const { resource, seed } = this.#begin(name, options)
    const [record] = await this.#make(resource, [readOverrides(overrides, 'given')], seed, () => '')
    return record!
  }

  async many(
    name: string,
    count: number,
    overrides: Overrides | ((index: number) => Overrides) = {},
    options: GivenOptions = {},
  ): Promise<GivenRecord[]> {
    const { resource, seed } = this.#begin(name, options)
    if (!Number.isSafeInteger(count) || count < 0)
      throw new RangeError(`given.many: the count must be an integer of 0 or more, got ${count}.`)
    const same = typeof overrides === 'function' ? undefined : readOverrides(overrides, 'given.many')
    const all = Array.from({ length: count }, (_, index) => {
      return same ?? readOverrides((overrides as (index: number) => Overrides)(index), `given.many: ${index}`)
    })
    return this.#make(resource, all, seed, String)
  }

  /** Nothing is awaited before the seed is taken, so that calls that run at once have theirs in the order of the calls. */
  #begin(name: string, options: GivenOptions): { resource: Resource; seed: number } {
    checkNames(options, ['seed'], 'given')
    const { seed } = options
    if (seed !== undefined && !Number.isSafeInteger(seed)) throw new RangeError(`given: "seed" must be an integer, got ${String(seed)}.`)
    const { model } = this.#services
    const resource = model.byName.get(name)
    if (resource === undefined) {
      const known = model.resources.flatMap(({ plural, singular }) => [singular, plural])
      throw restError('resource_unknown', `given: there is no resource "${name}".${formatHint(findNearest(name, known))}`)
    }
    if (resource.readOnly) throw restError('method_not_allowed', `given: the ${resource.plural} are read-only.`)
    return { resource, seed: seed ?? this.nextSeed++ }
  }

  async #make(resource: Resource, all: readonly Overrides[], seed: number, pathOf: (index: number) => string): Promise<GivenRecord[]> {
    const { connection, model, reader, clock, context } = this.#services
    const drafts = new Drafts()
    const roots = all.map((overrides, index) => drafts.add(resource, overrides, { path: pathOf(index), stream: `${seed}/${index}` }))
    const filler = new Filler(drafts, connection, await loadReadable(), clock.now().getTime())
    try {
      return await connection.write(async (em: EntityManager) => {
        await filler.fill()
        const faults = new FieldErrors()
        const changes = roots.map(({ body, path }) => validateRecord(body, resource, { mode: 'create', seeding: true }, faults, path))
        const entities = await insert(changes, faults, em, connection)
        const view = { parameters: NO_PARAMETERS, visibility: EVERYTHING, ctx: context(resource), signal: undefined }
        const records: GivenRecord[] = []
        for (const entity of entities) records.push((await reader.record(resource, keyOfEntity(resource, entity), view))!)
        return records
      })
    } catch (error) {
      throw withMadeUp(translateDatabaseError(error, connection.dialect, model), drafts, connection.dialect)
    }
  }
}

/** A copy of the overrides as JSON: a date may be a Date. */
function readOverrides(overrides: unknown, where: string): Overrides {
  if (!isObject(overrides)) throw new TypeError(`${where}: the overrides must be an object of attributes.`)
  const json = toJson(overrides, `${where}: the overrides`)
  assertJson(json, `${where}: the overrides`)
  return json as Overrides
}

/** An attribute whose value is to be made up, with the object that it goes to. */
interface Slot {
  readonly attribute: ScalarAttribute
  readonly holder: Record<string, unknown>
  /** Within the record. */
  readonly path: string
  readonly bearer: string
}

/** A record to be inserted, with what is still to be made up. */
interface RecordDraft {
  readonly resource: Resource
  readonly body: Record<string, unknown>
  /** In the body of the whole, for faults. */
  readonly path: string
  /** Names the streams of its values. */
  readonly stream: string
  readonly slots: Slot[]
  /** The link that its place sets. */
  readonly implied: { readonly name: string; readonly owner: RecordDraft } | undefined
}

/** Where a draft stands. */
interface DraftContext {
  readonly path: string
  readonly stream: string
  readonly implied?: RecordDraft['implied']
  /** The other side of the one-to-one by which its owner links the record. */
  readonly linkedFrom?: string | undefined
  /** The needs that have led here since the caller's own words, the outermost first. */
  readonly needs?: readonly { readonly resource: Resource; readonly attribute: ToOneAttribute }[]
  /** The attribute by which another record will refer to it. */
  readonly referredBy?: string | undefined
}

function join(path: string, name: string | number): string {
  return path === '' ? String(name) : `${path}.${name}`
}

/** Completes overrides to the structure of a graph: every record there will be, without the made-up values yet. */
class Drafts {
  readonly all: RecordDraft[] = []

  add(resource: Resource, overrides: Overrides, { path, stream, implied, linkedFrom, needs = [], referredBy }: DraftContext): RecordDraft {
    const body: Record<string, unknown> = { ...overrides }
    chooseClass(resource, body)
    const own = classAsked(resource, body)
    const draft: RecordDraft = { resource, body, path, stream: `${stream}/${resource.className}`, slots: [], implied }
    this.all.push(draft)
    for (const attribute of resource.attributes) {
      const { name } = attribute
      // What only other classes of the hierarchy have is nothing that this record could need.
      if (name === implied?.name || name === linkedFrom || !isOfClass(attribute, own)) continue
      if (attribute.kind === 'toMany') this.#list(attribute, draft)
      else if (attribute.kind === 'toOne') this.#link(attribute, body, name, draft, needs)
      else if (attribute.kind === 'toOneOf') this.#linkOneOf(attribute, draft, needs)
      else this.#open(attribute, body, name, resource.singular, draft, needs, name === referredBy)
    }
    return draft
  }

  #list(attribute: RelationAttribute, draft: RecordDraft): void {
    const { name } = attribute
    const value = draft.body[name]
    const items: unknown =
      typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? Array.from({ length: value }, () => ({})) : value
    if (!Array.isArray(items)) return
    draft.body[name] = items.map((item: unknown, index) =>
      isObject(item) ? this.#nested(attribute, item, draft, join(name, index)) : item,
    )
  }

  /** @param holder the body, or an embedded object in it; `at` is the path of the link within the body */
  #link(
    attribute: ToOneAttribute,
    holder: Record<string, unknown>,
    at: string,
    draft: RecordDraft,
    needs: NonNullable<DraftContext['needs']>,
  ): void {
    const { name, target } = attribute
    const value = holder[name]
    if (isObject(value)) {
      holder[name] = this.#nested(attribute, value, draft, at)
    } else if (value === undefined && attribute.needed) {
      const path = [...needs, { resource: draft.resource, attribute }]
      const start = path.findIndex(({ resource }) => resource === target)
      if (start >= 0) throw circle(path.slice(start), join(draft.path, at))
      holder[name] = this.#nested(attribute, {}, draft, at, path)
    }
  }

  /** Of several resources, the one that the overrides tell, else the first. */
  #linkOneOf({ name, typeName, branches, needed }: ToOneOfAttribute, draft: RecordDraft, needs: NonNullable<DraftContext['needs']>): void {
    const value = draft.body[name]
    if (isObject(value)) {
      const { [typeName]: told, ...rest } = value
      const branch = branches.find(({ target }) => target.singular === told)
      const isLink = 'id' in rest && Object.keys(rest).length === 1
      // What is made up is put into the very object.
      if (branch !== undefined && !isLink) draft.body[name] = Object.assign(this.#nested(branch, rest, draft, name), { [typeName]: told })
      return
    }
    const branch = branches.find(({ target }) => target.served && !target.readOnly)
    if (value !== undefined || !needed || branch === undefined) return
    const path = [...needs, { resource: draft.resource, attribute: branch }]
    const start = path.findIndex(({ resource }) => resource === branch.target)
    if (start >= 0) throw circle(path.slice(start), join(draft.path, name))
    draft.body[name] = Object.assign(this.#nested(branch, {}, draft, name, path), { [typeName]: branch.target.singular })
  }

  #nested(
    attribute: RelationAttribute,
    overrides: Overrides,
    owner: RecordDraft,
    at: string,
    needs: DraftContext['needs'] = [],
  ): Overrides {
    const name = owningName(attribute)
    const implied = name === undefined ? undefined : { name, owner }
    const referredBy = attribute.kind === 'toOne' && attribute.owner ? attribute.targetKey?.name : undefined
    const place = {
      path: join(owner.path, at),
      stream: `${owner.stream}/${at}`,
      implied,
      linkedFrom: filledSide(attribute),
      needs,
      referredBy,
    }
    return this.add(attribute.target, overrides, place).body
  }

  /** Opens slots for what is needed and was not given. */
  #open(
    attribute: ScalarAttribute | EmbeddedAttribute,
    holder: Record<string, unknown>,
    path: string,
    bearer: string,
    draft: RecordDraft,
    needs: NonNullable<DraftContext['needs']>,
    isReferred = false,
  ): void {
    const { name } = attribute
    const value = holder[name]
    if (attribute.kind === 'scalar') {
      // A key that a life-cycle function makes would be another one each time.
      const isMade =
        attribute.needed || isReferred || (attribute.primary && attribute.type.kind === 'uuid' && attribute.source.kind === 'column')
      if (value === undefined && isMade) draft.slots.push({ attribute, holder, path, bearer })
      return
    }
    if (attribute.array) {
      if (value === undefined && attribute.needed) holder[name] = []
      else if (Array.isArray(value))
        holder[name] = value.map((item: unknown, index) =>
          isObject(item) ? this.#complete(attribute, item, `${path}.${index}`, draft, needs) : item,
        )
      return
    }
    if (isObject(value) || (value === undefined && attribute.needed)) holder[name] = this.#complete(attribute, value, path, draft, needs)
  }

  /** An embedded object with slots for what it needs; of several classes it is of the one that it says, else of the first. */
  #complete(
    { name, variants, attributes }: EmbeddedAttribute,
    value: object | undefined,
    path: string,
    draft: RecordDraft,
    needs: NonNullable<DraftContext['needs']>,
  ): Record<string, unknown> {
    const inner: Record<string, unknown> = { ...value }
    if (variants !== undefined) {
      const { discriminator, byValue } = variants
      const { type } = attributes.find(attribute => attribute.name === discriminator) as ScalarAttribute
      const [first = ''] = byValue.keys()
      inner[discriminator] ??= type.kind === 'integer' ? Number(first) : first
    }
    // What is not a class of it is refused by the validation.
    const own = variants === undefined ? attributes : (variants.byValue.get(String(inner[variants.discriminator])) ?? [])
    for (const child of own) {
      const at = `${path}.${child.name}`
      if (child.kind === 'toOne') this.#link(child, inner, at, draft, needs)
      else this.#open(child, inner, at, name, draft, needs)
    }
    return inner
  }
}

/** An abstract class has records of the classes below it alone: of the first, where the overrides do not tell. */
function chooseClass({ hierarchy, byName }: Resource, body: Record<string, unknown>): void {
  if (hierarchy?.attribute === undefined || hierarchy.own !== undefined) return
  const { attribute, byValue } = hierarchy
  const told = byName.get(attribute)
  const [first] = byValue.keys()
  if (first !== undefined) body[attribute] ??= told?.kind === 'scalar' && told.type.kind === 'integer' ? Number(first) : first
}

/** The refusal of relations that need each other, so that none can come first. */
function circle(needs: NonNullable<DraftContext['needs']>, at: string): RestError {
  const steps = needs.map(({ resource, attribute }) => `${resource.singular}.${attribute.name}`)
  const detail =
    `given: "${at}" cannot be made up, since the model's relations need each other in a circle: ` +
    `${[...steps, needs[0]!.resource.singular].join(' → ')}. Give the ID of an existing ${needs.at(-1)!.attribute.target.singular}, or make one of them nullable.`
  return restError('validation_failed', detail, { errors: [{ code: 'required', detail, attribute: at }] })
}

/** A part of a unique set, as far as it is known before values are made up. */
type Part =
  | { readonly kind: 'slot'; readonly attribute: Attribute; readonly slot: Slot }
  | { readonly kind: 'given'; readonly attribute: Attribute; readonly values: readonly unknown[] }
  | { readonly kind: 'owner'; readonly attribute: Attribute; readonly owner: RecordDraft }

interface UniqueSet {
  readonly resource: Resource
  /** The same for all sets of the same attributes. */
  readonly name: string
  readonly parts: readonly Part[]
}

function isSlot(part: Part): boolean {
  return part.kind === 'slot'
}

/**
 * The sets of a record that another one could share. Not those with a NULL, which conflicts with nothing, nor those with a parent that is made for it.
 * What is left out (a default of the model) is left out here too: the others are then made up to be unique without it.
 */
function uniqueSets(draft: RecordDraft): UniqueSet[] {
  const { resource } = draft
  return [...resource.uniques, ...(resource.generatedKey ? [] : [resource.keyNames])].flatMap(paths => {
    const parts: Part[] = []
    for (const path of paths) {
      const part = partAt(draft, path)
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

function partAt(draft: RecordDraft, path: string): Part | 'free' | 'left out' {
  const { resource, slots, implied } = draft
  const slot = slots.find(one => one.path === path)
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
    // What is wrong in itself is told by the validation.
    return typed === undefined ? 'free' : { kind: 'given', attribute, values: [typed] }
  }
  const key = attribute.kind === 'toOne' && !isObject(value) ? keyFromJson(value, attribute.target) : undefined
  return key === undefined ? 'free' : { kind: 'given', attribute, values: key }
}

function valuesOf(part: Part): readonly unknown[] {
  if (part.kind === 'given') return part.values
  if (part.kind === 'owner') return []
  const { attribute, holder } = part.slot
  return [readScalar(holder[attribute.name], attribute.type)]
}

/** How often the values of one record are drawn anew when those of a unique set are all taken. */
const ROUNDS = 20
const WHOLE = { filters: [], limit: 1, offset: 0, key: [] } as const

/** Makes up the values of drafts, unique where they must be: among the rows that exist and among each other. */
class Filler {
  readonly #drafts: readonly RecordDraft[]
  readonly #connection: Connection
  readonly #readable: Readable | undefined
  readonly #now: number
  /** Unique values of this call. */
  readonly #seen = new Set<string>()
  readonly #statements = new Map<string, Statement | undefined>()
  readonly #numbers: ReadonlyMap<RecordDraft, number>

  constructor({ all }: Drafts, connection: Connection, readable: Readable | undefined, now: number) {
    this.#drafts = all
    this.#connection = connection
    this.#readable = readable
    this.#now = now
    this.#numbers = new Map(all.map((draft, index) => [draft, index]))
  }

  /** To be called inside the transaction. */
  async fill(): Promise<void> {
    const sets = new Map(this.#drafts.map(draft => [draft, uniqueSets(draft)]))
    // What the caller gives is not to be taken by a record before.
    for (const all of sets.values()) for (const set of all) if (!set.parts.some(isSlot)) this.#seen.add(this.#textOf(set))
    for (const [draft, all] of sets) {
      const open = all.filter(({ parts }) => parts.some(isSlot))
      for (let round = 0; round < ROUNDS; round++) if (await this.#draw(draft, open, round)) break
      for (const set of open) this.#seen.add(this.#textOf(set))
    }
  }

  /** Draws all values of a record; tells whether they are free. */
  async #draw({ slots, stream }: RecordDraft, sets: readonly UniqueSet[], round: number): Promise<boolean> {
    // The widest choice is made last, when there is most to make up for.
    const ordered = slots.toSorted((a, b) => domainOf(a.attribute.type) - domainOf(b.attribute.type))
    let isFree = true
    for (const [index, { attribute, holder, path, bearer }] of ordered.entries()) {
      const decided = sets.filter(({ parts }) => parts.every(part => part.kind !== 'slot' || ordered.indexOf(part.slot) <= index))
      const own = decided.filter(({ parts }) => parts.some(part => part.kind === 'slot' && part.slot === ordered[index]))
      const random = new Random(`${stream}/${path}${round === 0 ? '' : `/${round}`}`)
      const values = fakeValues(attribute, { random, readable: this.#readable, now: this.#now, bearer })
      let first: unknown
      let isTaken = true
      for (const value of values) {
        first ??= value
        holder[attribute.name] = value
        isTaken = await this.#isTaken(own)
        if (!isTaken) break
      }
      if (first === undefined) throw unmade(attribute, path)
      if (isTaken) holder[attribute.name] = first
      isFree &&= !isTaken
    }
    return isFree
  }

  async #isTaken(sets: readonly UniqueSet[]): Promise<boolean> {
    for (const set of sets) if (this.#seen.has(this.#textOf(set)) || (await this.#exists(set))) return true
    return false
  }

  async #exists({ resource, name, parts }: UniqueSet): Promise<boolean> {
    // No row that exists can refer to a record that is only being made.
    if (parts.some(({ kind }) => kind === 'owner')) return false
    const { dialect } = this.#connection
    if (!this.#statements.has(name)) {
      const attributes = parts.map(({ attribute }) => ({ attribute, given: true }))
      this.#statements.set(name, dialect.taken(resource, attributes, false))
    }
    const statement = this.#statements.get(name)
    if (statement === undefined) return false
    return this.#connection.read(() => readExists(statement, { ...WHOLE, given: parts.flatMap(valuesOf) }, dialect))
  }

  #textOf({ name, parts }: UniqueSet): string {
    const texts = parts.map(part =>
      part.kind === 'owner'
        ? `of ${this.#numbers.get(part.owner)}`
        : JSON.stringify(valuesOf(part).map(value => (typeof value === 'bigint' ? value.toString() : value))),
    )
    return `${name} ${texts.join()}`
  }
}

/** The refusal of an attribute whose type takes nothing of what can be made up. */
function unmade({ name }: ScalarAttribute, path: string): RestError {
  const detail = `given: "${path}" has a type of the model's own, which takes none of the values that can be made up: give it, { ${name}: ... }.`
  return restError('validation_failed', detail, { errors: [{ code: 'required', detail, attribute: path }] })
}

/** Where the database refuses a CHECK, which the model tells nothing of: the made-up values that it may be about. */
function withMadeUp(error: unknown, drafts: Drafts, dialect: Dialect): unknown {
  if (!(error instanceof RestError) || !(error.cause instanceof CheckConstraintViolationException)) return error
  const text = dialect.brokenCheck(error.cause) ?? ''
  const named = drafts.all.flatMap(draft =>
    draft.slots
      .filter(({ attribute: { source } }) => source.kind === 'column' && text.includes(source.column))
      .filter(() => error.cause instanceof Error && error.cause.message.includes(draft.resource.table))
      .map(({ attribute, holder, path }) => ({ at: join(draft.path, path), value: holder[attribute.name], hidden: attribute.hidden })),
  )
  if (named.length === 0) return error
  const errors = named.map(({ at, value, hidden }): FieldError => ({
    code: 'value_invalid',
    detail: `"${at}" was made up and does not meet the check "${text}": give it in the overrides.`,
    attribute: at,
    ...(hidden ? {} : { value }),
  }))
  return restError('validation_failed', `given: ${error.message} ${errors[0]!.detail}`, { errors, cause: error.cause })
}
