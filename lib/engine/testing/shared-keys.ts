/**
 * Fills foreign keys that share a column with another attribute, such as a tenant in every key. One value follows from the other; a parent
 * linked twice is created once.
 *
 * ```
 * line (tenant_id, order_id) references order (tenant_id, id): the line has the tenant of the order
 * ```
 */
import { joinKey, keyFromJson } from '../../model/key.ts'
import { tableColumns, type Attribute, type Resource, type ScalarAttribute, type ToOneAttribute } from '../../model/model.ts'
import { formatScalar } from '../../foundation/values/scalar-type.ts'
import { isObject } from '../../foundation/json/json.ts'
import type { RecordDraft } from './draft.ts'

interface SharedColumn {
  readonly link: ToOneAttribute
  readonly part: number
  /** Shares the column, and has the fewest columns. */
  readonly source: ScalarAttribute | ToOneAttribute
  readonly sourcePart: number
}

const SHARED = new WeakMap<Resource, readonly SharedColumn[]>()

function findShared(resource: Resource): readonly SharedColumn[] {
  const known = SHARED.get(resource)
  if (known !== undefined) return known
  const sources = new Map<string, { readonly attribute: ScalarAttribute | ToOneAttribute; readonly part: number }>()
  const shared: SharedColumn[] = []
  for (const attribute of resource.attributes.filter(isHolder).toSorted((a, b) => tableColumns(a).length - tableColumns(b).length)) {
    for (const [part, column] of tableColumns(attribute).entries()) {
      const source = sources.get(column)
      if (source === undefined) sources.set(column, { attribute, part })
      else if (attribute.kind === 'toOne') shared.push({ link: attribute, part, source: source.attribute, sourcePart: source.part })
    }
  }
  SHARED.set(resource, shared)
  return shared
}

function isHolder(attribute: Attribute): attribute is ScalarAttribute | ToOneAttribute {
  if (attribute.kind === 'scalar') return attribute.source.kind === 'column'
  return attribute.kind === 'toOne' && attribute.owner && [attribute.formula, attribute.targetKey, attribute.document].every(each => !each)
}

/** References by a column beside the primary key: both sides must be equal. */
function findBeside(
  { attributes }: Resource,
  { beside = [], target }: ToOneAttribute,
): { source: ScalarAttribute | ToOneAttribute; name: string }[] {
  const find = (all: readonly Attribute[], column: string): ScalarAttribute | ToOneAttribute | undefined =>
    all.filter(isHolder).find(each => tableColumns(each).join() === column)
  return beside.flatMap(({ column, referred }) => {
    const [source, targetAttribute] = [find(attributes, column), find(target.attributes, referred)]
    return source === undefined || targetAttribute === undefined ? [] : [{ source, name: targetAttribute.name }]
  })
}

function findKeyPart(resource: Resource, part: number): { attribute: ScalarAttribute | ToOneAttribute; inner: number } {
  let start = 0
  for (const name of resource.keyNames) {
    const attribute = resource.byName.get(name) as ScalarAttribute | ToOneAttribute
    const count = attribute.kind === 'toOne' ? attribute.target.key.length : 1
    if (part < start + count) return { attribute, inner: part - start }
    start += count
  }
  throw new RangeError(`${resource.className} has no part ${part} in its key.`)
}

export class SharedKeys {
  readonly #byBody = new Map<object, RecordDraft>()

  /** Sets values that follow from the caller's, or from the place. */
  add(draft: RecordDraft): void {
    this.#byBody.set(draft.body, draft)
    const { body, implied } = draft
    for (const shared of findShared(draft.resource)) {
      const { link, part, source } = shared
      if (source.name === implied?.name || body[source.name] !== undefined || draft.pending.has(source.name)) continue
      if (source.kind === 'toOne' && source.columns.length > 1) continue
      if (link.name === implied?.name) {
        this.#openKey(implied.owner, part)
        draft.pending.set(source.name, () => this.#readLink(draft, link, part))
      } else if (body[link.name] !== undefined) {
        const value = readGiven(body[link.name], link.target, part)
        if (isObject(value)) draft.pending.set(source.name, () => this.#readLink(draft, link, part))
        else if (value !== undefined) body[source.name] = value
      }
    }
  }

  /** Once attributes are complete, opens keys from which other values follow. */
  finish(draft: RecordDraft): void {
    for (const { link, part, source } of findShared(draft.resource)) {
      const value = draft.body[link.name]
      const linked = isObject(value) ? this.#byBody.get(value) : undefined
      if (linked !== undefined && draft.pending.has(source.name)) this.#openKey(linked, part)
    }
    for (const link of draft.resource.attributes) {
      if (link.kind !== 'toOne' || !isObject(draft.body[link.name])) continue
      for (const { source } of findBeside(draft.resource, link)) this.#open(draft, source, 0)
    }
  }

  /** Values of a linked record that follow from the linking record. */
  findInherited(owner: RecordDraft, link: ToOneAttribute, given: Readonly<Record<string, unknown>>): Map<string, () => unknown> {
    const inherited = new Map<string, () => unknown>()
    const all = findShared(owner.resource).filter(shared => shared.link === link && this.#isSettled(owner, shared.source))
    const { target } = link
    for (const name of target.keyNames) {
      const parts = target.key.flatMap((_, part) => {
        const { attribute } = findKeyPart(target, part)
        return attribute.name === name ? [all.find(shared => shared.part === part)] : []
      })
      if (given[name] !== undefined || parts.length === 0 || parts.some(part => part === undefined)) continue
      const isSingle = parts.length === 1
      inherited.set(name, () => {
        const values = parts.map(shared => this.#readValue(owner, shared!.source, shared!.sourcePart))
        return isSingle ? values[0] : joinKey(values)
      })
      for (const shared of parts) this.#open(owner, shared!.source, shared!.sourcePart)
    }
    for (const { source, name } of findBeside(owner.resource, link))
      if (given[name] === undefined && this.#isSettled(owner, source)) inherited.set(name, () => this.#readValue(owner, source, 0))
    return inherited
  }

  /** Links a record to itself, with a made-up key if none is given. */
  linkItself(draft: RecordDraft, link: ToOneAttribute): void {
    const { key, shownKey } = link.target
    const parts = key.map((_, part) => part)
    for (const part of parts) this.#openKey(draft, part)
    if (shownKey !== undefined) this.#open(draft, draft.resource.byName.get(shownKey.name) as ScalarAttribute, 0)
    draft.pending.set(link.name, () => {
      if (shownKey !== undefined) return this.#resolveOne(draft, shownKey.name)
      const values = parts.map(part => this.#readKey(draft, part))
      return values.length === 1 ? values[0] : joinKey(values)
    })
  }

  resolve(): void {
    for (const draft of this.#byBody.values()) for (const name of draft.pending.keys()) this.#resolveOne(draft, name)
  }

  #resolveOne(draft: RecordDraft, name: string): unknown {
    const value = draft.pending.get(name)
    if (value !== undefined) {
      draft.pending.delete(name)
      draft.body[name] = value()
    }
    return draft.body[name]
  }

  #isSettled(draft: RecordDraft, source: ScalarAttribute | ToOneAttribute): boolean {
    const value = draft.body[source.name]
    return value === undefined
      ? source.needed || source.primary || draft.pending.has(source.name) || draft.implied?.name === source.name
      : value !== null
  }

  #readValue(draft: RecordDraft, attribute: ScalarAttribute | ToOneAttribute, part: number): unknown {
    return attribute.kind === 'toOne' ? this.#readLink(draft, attribute, part) : this.#resolveOne(draft, attribute.name)
  }

  #readLink(draft: RecordDraft, link: ToOneAttribute, part: number): unknown {
    if (draft.implied?.name === link.name) return this.#readKey(draft.implied.owner, part)
    const value = this.#resolveOne(draft, link.name)
    const linked = isObject(value) ? this.#byBody.get(value) : undefined
    return linked === undefined ? readGiven(value, link.target, part) : this.#readKey(linked, part)
  }

  #readKey(draft: RecordDraft, part: number): unknown {
    const { attribute, inner } = findKeyPart(draft.resource, part)
    return this.#readValue(draft, attribute, inner)
  }

  /** Makes a slot of a key with an equal value elsewhere: the database would give the key too late. */
  #openKey(draft: RecordDraft, part: number): void {
    const { attribute, inner } = findKeyPart(draft.resource, part)
    this.#open(draft, attribute, inner)
  }

  #open(draft: RecordDraft, attribute: ScalarAttribute | ToOneAttribute, part: number): void {
    const { name } = attribute
    if (draft.pending.has(name)) return
    if (attribute.kind === 'toOne') {
      const value = draft.body[name]
      const linked = draft.implied?.name === name ? draft.implied.owner : isObject(value) ? this.#byBody.get(value) : undefined
      if (linked !== undefined) this.#openKey(linked, part)
    } else if (draft.body[name] === undefined && !draft.slots.some(slot => slot.path === name)) {
      draft.slots.push({ attribute, holder: draft.body, path: name, bearer: draft.resource.singular })
    }
  }
}

/** Gives a part of the caller's ID or object; for a new record without a key, the object. */
function readGiven(value: unknown, target: Resource, part: number): unknown {
  if (value === undefined || value === null) return undefined
  if (isObject(value)) {
    const { attribute, inner } = findKeyPart(target, part)
    const given = value[attribute.name]
    if (attribute.kind !== 'toOne') return given
    return isObject(given) ? (readGiven(given, attribute.target, inner) ?? given) : readGiven(given, attribute.target, inner)
  }
  const key = keyFromJson(value, target)?.[part]
  if (key === undefined) return undefined
  const { type } = target.key[part]!
  if (type.codec !== undefined) return type.codec.toJson(key)
  return typeof key === 'number' ? key : formatScalar(key, type)
}
