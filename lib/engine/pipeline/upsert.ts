/**
 * Changes the record that has a posted body's unique values (`?upsert=email`), or creates a record, each as by a request. Refuses with
 * parameter_invalid names without a unique key, with body_invalid two bodies of a record.
 */
import type { Awaitable } from '../../foundation/async/awaitable.ts'
import { RestError, parameterError, restError } from '../../foundation/errors/errors.ts'
import { answerRefused, requireAccepted } from '../../foundation/http/refused.ts'
import type { RestResponse } from '../../foundation/base/response.ts'
import { formatHint, findNearest } from '../../foundation/base/suggest.ts'
import { isObject, type JsonObject } from '../../foundation/json/json.ts'
import { idToSegment, type KeyValues } from '../../model/key.ts'
import type { Resource } from '../../model/model.ts'
import { isVisible, retryWithRules, type Visibility } from '../../records/plan/visibility.ts'
import { NO_PARAMETERS } from '../../records/request/query-string.ts'
import type { RawFilter } from '../../records/request/raw-filter.ts'
import type { Reader, View } from '../../records/read/reader.ts'

interface UpsertParts {
  readonly resource: Resource
  readonly names: readonly string[]
  readonly view: View
  readonly reader: Reader
  readonly create: (body: unknown) => Awaitable<RestResponse>
  readonly change: (key: KeyValues, body: unknown) => Awaitable<RestResponse>
}

export class Upsert {
  readonly #parts: UpsertParts
  readonly #met = new Set<string>()
  /** Whether any record is new. */
  creates = false
  readonly #refused: unknown[] = []

  constructor(parts: UpsertParts) {
    this.#parts = parts
  }

  /** @throws RestError unless the names are a unique key that the caller sees */
  async checkNames(): Promise<void> {
    const { resource, names, view } = this.#parts
    await retryWithRules(view.visibility, () => requireUnique(names, resource, view.visibility))
  }

  async write(body: unknown): Promise<RestResponse> {
    const { resource, change } = this.#parts
    const found = await this.#find(body)
    if (found !== undefined) {
      const id = idToSegment(found, resource)
      if (this.#met.has(id)) throw restError('body_invalid', 'Two records of the body have the same values of the key in "upsert".')
      this.#met.add(id)
      return change(found, body)
    }
    const response = await this.#create(body)
    if (response.status >= 400) return response
    this.creates = true
    const made = await this.#find(body)
    if (made !== undefined) this.#met.add(idToSegment(made, resource))
    return response
  }

  /** Runs `work` once more where another request has created the record meanwhile, unseen by the transaction. */
  async retry<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof RestError) || error.code !== 'unique_conflict' || !(await this.#isLate())) throw error
      return work()
    }
  }

  /** At the beginning of each transaction: work may run again. */
  begin(): void {
    this.#met.clear()
    this.creates = false
  }

  async #isLate(): Promise<boolean> {
    for (const body of this.#refused) if ((await this.#find(body)) !== undefined) return true
    return false
  }

  async #create(body: unknown): Promise<RestResponse> {
    try {
      return await this.#parts.create(body)
    } catch (error) {
      this.#refused.push(body)
      throw error
    }
  }

  async writeAlone(body: unknown, transaction: <T>(work: () => Promise<T>) => Promise<T>): Promise<RestResponse> {
    const write = async (): Promise<RestResponse> => {
      this.begin()
      return requireAccepted(await this.write(body))
    }
    return answerRefused(() => transaction(write))
  }

  /** Finds no record for a missing value or NULL. */
  async #find(body: unknown): Promise<KeyValues | undefined> {
    const { resource, names, view, reader } = this.#parts
    if (!isObject(body)) return undefined
    const filters = names.flatMap(name => makeFilter(name, body) ?? [])
    if (filters.length < names.length) return undefined
    const parameters = { ...NO_PARAMETERS, filters, asked: filters.map((_, index) => index) }
    try {
      const { keys } = await reader.keys(resource, 1, { ...view, parameters })
      return keys[0]
    } catch (error) {
      // Validation says what is wrong with the value.
      if (error instanceof RestError && error.errors?.some(({ code }) => code === 'value_invalid') === true) return undefined
      throw error
    }
  }
}

function makeFilter(name: string, body: JsonObject): RawFilter | undefined {
  const value = body[name]
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return undefined
  const text = String(value)
  return {
    label: name,
    text,
    negated: false,
    paths: [name],
    operator: '=',
    values: [{ kind: 'text', text }],
    bare: false,
    isGrouped: false,
  }
}

function requireUnique(names: readonly string[], resource: Resource, visibility: Visibility): void {
  const { byName, keyNames, shownKey, uniques } = resource
  const isSeen = (name: string): boolean => {
    const attribute = byName.get(name)
    return attribute !== undefined && isVisible(attribute, visibility)
  }
  const sets = [keyNames, ...(shownKey === undefined ? [] : [[shownKey.name]]), ...uniques].filter(set => set.every(isSeen))
  if (sets.some(set => set.length === names.length && names.every(name => set.includes(name)))) return
  const allowed = sets.map(set => set.join())
  const suggestion = findNearest(names.join(), allowed)
  const keys = `those are ${allowed.join(' and ')}.${formatHint(suggestion)}`
  throw parameterError({
    code: 'value_invalid',
    detail: `"${names.join().slice(0, 100)}" is no unique key of ${resource.plural}; ${keys}`,
    parameter: 'upsert',
    value: names.join(),
    allowed,
    ...(suggestion === undefined ? {} : { suggestion }),
  })
}
