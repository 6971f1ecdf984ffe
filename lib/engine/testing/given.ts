/**
 * `engine.given`: inserts records with made-up values for tests. Rejects with resource_unknown, method_not_allowed, body_invalid,
 * validation_failed, unique_conflict, TypeError, RangeError. `complete` only gives a body.
 */
import { assertJson, isObject, toJson } from '../../foundation/json/json.ts'
import { restError } from '../../foundation/errors/errors.ts'
import { mustRange, readOptions } from '../../foundation/base/option-table.ts'
import { formatHint, findNearest } from '../../foundation/base/suggest.ts'
import type { Resource } from '../../model/model.ts'
import { requireFew, type Give, type GivenOptions, type GivenRecord, type Overrides, type RecordMaking } from './given-options.ts'
import type { GivenServices } from './given-services.ts'

export class Given {
  /** Kept in snapshots: after a reset, the same calls make the same records. */
  nextSeed = 1
  readonly #services: GivenServices

  constructor(services: GivenServices) {
    this.#services = services
  }

  /** @param check throws once the engine is closed */
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

  async one(name: string, overrides: Overrides = {}, options: GivenOptions = {}, maxRecords = Infinity): Promise<GivenRecord> {
    const { resource, seed } = this.#begin(name, options)
    const [record] = await this.#make(resource, [readOverrides(overrides, 'given')], { seed, pathOf: () => '', maxRecords })
    return record!
  }

  async many(
    name: string,
    count: number,
    overrides: Overrides | ((index: number) => Overrides) = {},
    options: GivenOptions = {},
    maxRecords = Infinity,
  ): Promise<GivenRecord[]> {
    const { resource, seed } = this.#begin(name, options)
    if (!Number.isSafeInteger(count) || count < 0)
      throw new RangeError(`given.many: the count must be an integer of 0 or more, got ${count}.`)
    requireFew(count, maxRecords)
    const same = typeof overrides === 'function' ? undefined : readOverrides(overrides, 'given.many')
    const all = Array.from({ length: count }, (_, index) => {
      return same ?? readOverrides((overrides as (index: number) => Overrides)(index), `given.many: ${index}`)
    })
    return this.#make(resource, all, { seed, pathOf: String, maxRecords })
  }

  /** Gives a body with made-up values and parents. */
  async complete(resource: Resource, overrides: Overrides, seed: number): Promise<Record<string, unknown>> {
    const { completeRecord } = await import('./make-records.ts')
    return completeRecord(resource, overrides, seed, this.#services)
  }

  /** Must run synchronously: calls at the same time get seeds in order. */
  #begin(name: string, options: GivenOptions): { resource: Resource; seed: number } {
    const { seed } = readOptions(options, { seed: [mustRange('an integer', Number.isSafeInteger)] }, 'given')
    const { model } = this.#services.served()
    const resource = model.byName.get(name)
    if (resource === undefined) {
      const known = model.resources.flatMap(({ plural, singular }) => [singular, plural])
      throw restError('resource_unknown', `given: there is no resource "${name}".${formatHint(findNearest(name, known))}`)
    }
    if (resource.readOnly) throw restError('method_not_allowed', `given: the ${resource.plural} are read-only.`)
    return { resource, seed: seed ?? this.nextSeed++ }
  }

  async #make(resource: Resource, all: readonly Overrides[], making: RecordMaking): Promise<GivenRecord[]> {
    const { makeRecords } = await import('./make-records.ts')
    return makeRecords(resource, all, making, this.#services)
  }
}

/** A Date becomes a text. */
function readOverrides(overrides: unknown, where: string): Overrides {
  if (!isObject(overrides)) throw new TypeError(`${where}: the overrides must be an object of attributes.`)
  const json = toJson(overrides, `${where}: the overrides`)
  assertJson(json, `${where}: the overrides`)
  return json as Overrides
}
