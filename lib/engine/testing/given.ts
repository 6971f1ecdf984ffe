/**
 * Given: inserts minimal valid graphs of records. Values that the model needs and the caller leaves out are made up, parents included. The graph is inserted
 * like a seed, in one transaction, and read back as the API shows it. The same seed and the same data give the same records.
 * Rejects with resource_unknown, body_invalid, validation_failed, unique_conflict.
 */
import { CheckConstraintViolationException } from '@mikro-orm/core'
import type { EntityManager } from '@mikro-orm/core'
import type { Clock } from '../../foundation/base/clock.ts'
import type { HookContext } from '../../model/hook-context.ts'
import type { Connection, Dialect } from '../../records/database/dialect.ts'
import { RestError, restError } from '../../foundation/base/errors.ts'
import type { FieldError } from '../../foundation/base/errors.ts'
import { FieldErrors } from '../../foundation/base/body-errors.ts'
import { assertJson, isObject, toJson } from '../../foundation/base/json.ts'
import type { Model, Resource, ScalarAttribute } from '../../model/model.ts'
import { keyOfEntity } from '../../model/entity-key.ts'
import { NO_PARAMETERS } from '../../records/request/query-string.ts'
import { loadReadable } from './faker-text.ts'
import { DraftFiller } from './fill-drafts.ts'
import { joinPath } from './draft.ts'
import { RecordDrafts } from './record-drafts.ts'
import type { Overrides } from './record-drafts.ts'
import type { Reader } from '../../records/read/reader.ts'
import type { PasswordHashes } from '../../records/write/hash-passwords.ts'
import { insertGraph } from '../../records/write/planned-graph.ts'
import { insert } from '../../records/write/seed.ts'
import { checkNames, formatHint, findNearest } from '../../foundation/base/suggest.ts'
import { ValidationContext } from '../../records/write/validation-context.ts'
import type { RecordInput } from '../../records/write/record-input.ts'
import { validateRecord } from '../../records/write/validate-record.ts'
import { validateTogether } from '../../records/write/validate-seed.ts'
import { EVERYTHING } from '../../records/plan/visibility.ts'
import { translateDatabaseError } from '../../records/write/database-errors.ts'

/** Options of `engine.given` and `engine.given.many`. */
export interface GivenOptions {
  /** An integer that all made-up values follow from. Default: 1 in the first call without one, then 2, and so on. */
  readonly seed?: number
}

/** A record as the API shows it. */
export type GivenRecord = Record<
  string,
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read records freely: what they hold follows from the model
  any
>

/** `engine.given`. */
export type Give<Name extends string = string> = GiveMethods<Name>['one'] & Pick<GiveMethods<Name>, 'many'>

/** As methods, so that an engine with known names is an engine. */
interface GiveMethods<Name extends string> {
  /**
   * Inserts one record with all that the model needs, made up where the overrides leave it out: attributes and parents.
   *
   * @param name of the resource, singular or plural
   * @returns the record as the API shows it
   * @throws RestError when the overrides, or the made-up values, are refused by the model; nothing is inserted then. TypeError, RangeError for options that are not of their form.
   * @example const order = await engine.given('order', { customer: { vip: true }, items: 3 }, { seed: 7 })
   */
  one(name: Name, overrides?: Overrides, options?: GivenOptions): Promise<GivenRecord>
  /**
   * Inserts many records in one transaction, each with parents of its own unless the overrides link one.
   *
   * @param overrides for all of them, or a function of the index of each, from 0 on
   * @returns the records in order
   * @throws as `given` does; the paths of faults begin with the index of the record.
   * @example const orders = await engine.given.many('order', 20, index => ({ number: `A-${index}` }))
   */
  many(name: Name, count: number, overrides?: Overrides | ((index: number) => Overrides), options?: GivenOptions): Promise<GivenRecord[]>
}

/** The parts of the engine that records are made with. */
export interface GivenServices {
  /** Returns what is served at present. */
  readonly served: () => { readonly model: Model; readonly reader: Reader; readonly hashes: PasswordHashes | undefined }
  readonly connection: Connection
  readonly clock: Clock
  /** The context that renderers get, as in the answer to a POST of the resource. */
  readonly context: (resource: Resource) => HookContext
}

/** Makes records; its only state is the seed of the next call that has none of its own. */
export class Given {
  /** Copied with the data, so that the same calls make the same records. */
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

  /** Returns a body that makes a record: the overrides, with all that the model needs made up, parents included. Nothing is inserted. */
  async complete(resource: Resource, overrides: Overrides, seed: number): Promise<Record<string, unknown>> {
    const { connection, clock } = this.#services
    const drafts = new RecordDrafts(new Set())
    const { body } = drafts.add(resource, overrides, { path: '', stream: String(seed) })
    await new DraftFiller(drafts, connection, await loadReadable(), clock.now().getTime()).fill()
    drafts.resolve()
    return body
  }

  /** Nothing is awaited before the seed is taken, so that calls that run at once have theirs in the order of the calls. */
  #begin(name: string, options: GivenOptions): { resource: Resource; seed: number } {
    checkNames(options, ['seed'], 'given')
    const { seed } = options
    if (seed !== undefined && !Number.isSafeInteger(seed))
      throw new RangeError(`given: "seed" must be an integer, got ${typeof seed === 'string' ? JSON.stringify(seed) : String(seed)}.`)
    const { model } = this.#services.served()
    const resource = model.byName.get(name)
    if (resource === undefined) {
      const known = model.resources.flatMap(({ plural, singular }) => [singular, plural])
      throw restError('resource_unknown', `given: there is no resource "${name}".${formatHint(findNearest(name, known))}`)
    }
    if (resource.readOnly) throw restError('method_not_allowed', `given: the ${resource.plural} are read-only.`)
    return { resource, seed: seed ?? this.nextSeed++ }
  }

  async #make(resource: Resource, all: readonly Overrides[], seed: number, pathOf: (index: number) => string): Promise<GivenRecord[]> {
    const made = new Set<ScalarAttribute>()
    const hashed = (await this.#services.served().hashes?.inRecords(all, resource)) ?? all
    for (let attempt = 1; ; attempt++) {
      const drafts = new RecordDrafts(made)
      try {
        return await this.#attempt(drafts, resource, hashed, seed, pathOf)
      } catch (error) {
        const left = findLeftOut(error, drafts)
        if (attempt === ATTEMPTS || (left.length === 0 && !isOfMadeUp(error, drafts))) throw nameCall(error)
        for (const attribute of left) made.add(attribute)
      }
    }
  }

  async #attempt(
    drafts: RecordDrafts,
    resource: Resource,
    all: readonly Overrides[],
    seed: number,
    pathOf: (index: number) => string,
  ): Promise<GivenRecord[]> {
    const { connection, clock, context } = this.#services
    const { model, reader } = this.#services.served()
    const roots = all.map((overrides, index) => drafts.add(resource, overrides, { path: pathOf(index), stream: `${seed}/${index}` }))
    const filler = new DraftFiller(drafts, connection, await loadReadable(), clock.now().getTime())
    try {
      return await connection.write(async (em: EntityManager) => {
        await filler.fill()
        drafts.resolve()
        const bodies = roots.map(({ body }) => body)
        const { changes, errors: faults } = await validateTogether(connection, rules => {
          const errors = new FieldErrors(undefined, Infinity)
          const validate = ({ body, path }: (typeof roots)[number]): RecordInput =>
            validateRecord(body, resource, { mode: 'create' }, new ValidationContext(errors, rules, path))
          return { changes: roots.map(validate), errors }
        })
        const keys =
          (faults.listed.length === 0 ? await insertGraph(bodies, changes, connection) : undefined) ??
          (await insert(changes, faults, em, connection)).map(entity => keyOfEntity(resource, entity))
        const view = { parameters: NO_PARAMETERS, visibility: EVERYTHING, ctx: context(resource), signal: undefined }
        const records: GivenRecord[] = []
        for (const key of keys) records.push((await reader.record(resource, key, view))!)
        return records
      })
    } catch (error) {
      const translated = describeMissingDefault(translateDatabaseError(error, connection.dialect, model), drafts)
      throw describeBrokenCheck(translated, drafts, connection.dialect)
    }
  }
}

/** Adds to a refusal that it is about what `given` was asked for, where it does not say so. */
function nameCall(error: unknown): unknown {
  if (!(error instanceof RestError) || error.message.startsWith('given: ')) return error
  const { status, code, message, errors, headers, cause } = error
  return new RestError(status, code, `given: ${message}`, { ...(errors === undefined ? {} : { errors }), headers, cause })
}

/** How often records are made up, where others take the same values meanwhile. */
const ATTEMPTS = 10

/** A copy of the overrides as JSON: a date may be a Date. */
function readOverrides(overrides: unknown, where: string): Overrides {
  if (!isObject(overrides)) throw new TypeError(`${where}: the overrides must be an object of attributes.`)
  const json = toJson(overrides, `${where}: the overrides`)
  assertJson(json, `${where}: the overrides`)
  return json as Overrides
}

/** Whether an error is that another record has a value which was made up: on a server, one that was written at the same time. */
function isOfMadeUp(error: unknown, drafts: RecordDrafts): boolean {
  if (!(error instanceof RestError) || error.code !== 'unique_conflict') return false
  const names = new Set(drafts.all.flatMap(({ slots }) => slots.map(({ attribute }) => attribute.name)))
  return error.errors?.some(({ attribute }) => attribute !== undefined && names.has(attribute)) === true
}

/** Returns the attributes that were left to their default, which is unique and another record has. */
function findLeftOut(error: unknown, drafts: RecordDrafts): ScalarAttribute[] {
  if (!(error instanceof RestError) || error.code !== 'unique_conflict') return []
  const names = new Set(error.errors?.map(({ attribute }) => attribute))
  return drafts.all.flatMap(({ resource, body, slots }) =>
    resource.attributes.flatMap(attribute => {
      const { name } = attribute
      const isLeft = names.has(name) && body[name] === undefined && slots.every(slot => slot.attribute !== attribute)
      const isOwn = attribute.kind === 'scalar' && !attribute.readOnly && !attribute.primary && attribute.source.kind === 'column'
      return isLeft && isOwn && resource.uniques.some(paths => paths.includes(name)) ? [attribute] : []
    }),
  )
}

/** Returns the error of a broken CHECK, of which the model knows nothing, with the made-up values that it may be about. Other errors stay as they are. */
function describeBrokenCheck(error: unknown, drafts: RecordDrafts, dialect: Dialect): unknown {
  if (!(error instanceof RestError) || !(error.cause instanceof CheckConstraintViolationException)) return error
  const text = dialect.brokenCheck(error.cause) ?? ''
  const named = drafts.all.flatMap(draft =>
    draft.slots
      .filter(({ attribute: { source } }) => source.kind === 'column' && text.includes(source.column))
      .filter(() => error.cause instanceof Error && error.cause.message.includes(draft.resource.table))
      .map(({ attribute, holder, path }) => ({ at: joinPath(draft.path, path), value: holder[attribute.name], hidden: attribute.hidden })),
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

/** Returns the error of a broken foreign key with the links that have a default, which no record may have. Other errors stay as they are. */
function describeMissingDefault(error: unknown, { all }: RecordDrafts): unknown {
  if (!(error instanceof RestError) || error.code !== 'owner_required') return error
  const places = all.flatMap(({ resource, body, path, implied }) =>
    resource.attributes.flatMap(each => {
      const isLeft = each.kind === 'toOne' && each.owner && !each.nullable && !each.required && !each.readOnly
      return isLeft && body[each.name] === undefined && implied?.name !== each.name ? [joinPath(path, each.name)] : []
    }),
  )
  if (places.length === 0) return error
  const errors = places.map((attribute): FieldError => ({
    code: 'required',
    detail: `"${attribute}" was left to its default, which links a record that must be there: make that first, or give "${attribute}".`,
    attribute,
  }))
  return restError('validation_failed', `given: ${errors[0]!.detail}`, { errors, cause: error.cause })
}
