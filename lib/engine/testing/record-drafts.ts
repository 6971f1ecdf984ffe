/**
 * Completes the caller's overrides for `engine.given` to a graph of records, with a draft for each. Rejects relations needed in a circle.
 */
import { isIds } from '../../model/ids-name.ts'
import { restError, type RestError } from '../../foundation/errors/errors.ts'
import type {
  Attribute,
  EmbeddedAttribute,
  RelationAttribute,
  Resource,
  ScalarAttribute,
  ToManyAttribute,
  ToOneAttribute,
  ToOneOfAttribute,
} from '../../model/model.ts'
import type { RecordDraft } from './draft.ts'
import { SharedKeys } from './shared-keys.ts'
import { mayLeadBack } from '../../records/validate/own-links.ts'
import { findAskedClass, isOfClass } from '../../records/validate/record-class.ts'
import { filledSide, owningName } from '../../records/validate/relation-sides.ts'
import { isObject } from '../../foundation/json/json.ts'
import { requireFew, type Overrides } from './given-options.ts'
import { joinPath } from '../../records/validate/validation-context.ts'

/** The needed relations around a record, outermost first. */
type Needs = readonly { readonly resource: Resource; readonly attribute: ToOneAttribute }[]

interface DraftContext {
  readonly path: string
  readonly stream: string
  readonly implied?: RecordDraft['implied']
  /** The inverse side of a one-to-one, already set. */
  readonly linkedFrom?: string | undefined
  /** Default: none, for a record of the caller. */
  readonly needs?: Needs
  /** Needs a value: another record refers to the attribute. */
  readonly referredBy?: string | undefined
  readonly inherited?: ReadonlyMap<string, () => unknown>
}

interface Site {
  readonly draft: RecordDraft
  readonly holder: Record<string, unknown>
  /** Empty, or `address.`. */
  readonly prefix: string
  readonly bearer: string
  readonly needs: Needs
}

export class RecordDrafts {
  readonly all: RecordDraft[] = []
  readonly #keys = new SharedKeys()
  readonly #madeUp: ReadonlySet<ScalarAttribute>

  readonly #maxRecords: number

  /** @param madeUp attributes made up in spite of a default */
  constructor(madeUp: ReadonlySet<ScalarAttribute>, maxRecords = Infinity) {
    this.#madeUp = madeUp
    this.#maxRecords = maxRecords
  }

  /** Adds a draft, and drafts of all needed records. */
  add(resource: Resource, overrides: Overrides, context: DraftContext): RecordDraft {
    const { path, stream, implied, linkedFrom, needs = [], referredBy, inherited } = context
    const body = nameRelations(overrides, resource)
    chooseClass(resource, body)
    const askedClass = findAskedClass(resource, body)
    const draft: RecordDraft = {
      resource,
      body,
      path,
      stream: `${stream}/${resource.className}`,
      slots: [],
      implied,
      pending: new Map(inherited),
    }
    this.all.push(draft)
    requireFew(this.all.length, this.#maxRecords)
    this.#keys.add(draft)
    const site: Site = { draft, holder: body, prefix: '', bearer: resource.singular, needs }
    for (const attribute of orderByColumns(resource)) {
      const { name } = attribute
      if (name === implied?.name || name === linkedFrom || draft.pending.has(name) || !isOfClass(attribute, askedClass)) continue
      if (attribute.kind === 'toMany') this.#addList(attribute, draft)
      else if (attribute.kind === 'toOne') this.#addLink(attribute, site)
      else if (attribute.kind === 'toOneOf') this.#addLinkToOneOf(attribute, site)
      else this.#openValue(attribute, site, name === referredBy)
    }
    this.#keys.finish(draft)
    return draft
  }

  resolve(): void {
    this.#keys.resolve()
  }

  #addList(attribute: ToManyAttribute, draft: RecordDraft): void {
    const { name } = attribute
    const value = draft.body[name]
    const isCount = typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
    if (isCount) requireFew(this.all.length + value, this.#maxRecords)
    const items: unknown = isCount ? Array.from({ length: value }, () => ({})) : value
    if (!Array.isArray(items)) return
    draft.body[name] = items.map((item: unknown, index) =>
      isObject(item) ? this.#addNested(attribute, item, draft, joinPath(name, index)) : item,
    )
  }

  #addLink(attribute: ToOneAttribute, { draft, holder, prefix, needs }: Site): void {
    const { name } = attribute
    const value = holder[name]
    const at = prefix + name
    if (isObject(value)) {
      holder[name] = this.#addNested(attribute, value, draft, at)
    } else if (value === undefined && attribute.needed && prefix === '' && attribute.owner && mayLeadBack(attribute, draft.resource)) {
      this.#keys.linkItself(draft, attribute)
    } else if (value === undefined && attribute.needed) {
      holder[name] = this.#addNested(attribute, {}, draft, at, extendNeeds(needs, draft, attribute, at))
    }
  }

  #addLinkToOneOf({ name, typeName, branches, needed }: ToOneOfAttribute, { draft, needs }: Site): void {
    const value = draft.body[name]
    if (isObject(value)) {
      const { [typeName]: type, ...rest } = value
      const branch = branches.find(({ target }) => target.singular === type)
      const isLink = 'id' in rest && Object.keys(rest).length === 1
      // Made-up values go to this object: no copy may stand instead.
      if (branch !== undefined && !isLink)
        draft.body[name] = Object.assign(this.#addNested(branch, rest, draft, name), { [typeName]: type })
      return
    }
    const branch = branches.find(({ target }) => target.served && !target.readOnly)
    if (value !== undefined || !needed || branch === undefined) return
    const nested = this.#addNested(branch, {}, draft, name, extendNeeds(needs, draft, branch, name))
    draft.body[name] = Object.assign(nested, { [typeName]: branch.target.singular })
  }

  #addNested(attribute: RelationAttribute, overrides: Overrides, owner: RecordDraft, at: string, needs: Needs = []): Overrides {
    const name = owningName(attribute)
    const implied = name === undefined ? undefined : { name, owner }
    const referredBy = attribute.kind === 'toOne' && attribute.owner ? attribute.targetKey?.name : undefined
    const isOwn = attribute.kind === 'toOne' && attribute.owner && at === attribute.name
    const place = {
      path: joinPath(owner.path, at),
      stream: `${owner.stream}/${at}`,
      implied,
      linkedFrom: filledSide(attribute),
      needs,
      referredBy,
      ...(isOwn ? { inherited: this.#keys.findInherited(owner, attribute, overrides) } : {}),
    }
    return this.add(attribute.target, overrides, place).body
  }

  #openValue(attribute: ScalarAttribute | EmbeddedAttribute, site: Site, isReferred = false): void {
    const { name } = attribute
    const { draft, holder, prefix, bearer } = site
    const value = holder[name]
    if (attribute.kind === 'scalar') {
      // A life-cycle function would make another key at each call.
      const isMade =
        attribute.needed ||
        isReferred ||
        this.#madeUp.has(attribute) ||
        (attribute.primary && attribute.type.kind === 'uuid' && attribute.source.kind === 'column')
      if (value === undefined && isMade) draft.slots.push({ attribute, holder, path: prefix + name, bearer })
    } else if (attribute.array) {
      if (value === undefined && attribute.needed) holder[name] = []
      else if (Array.isArray(value))
        holder[name] = value.map((item: unknown, index) =>
          isObject(item) ? this.#complete(attribute, item, { ...site, prefix: `${prefix}${name}.${index}.` }) : item,
        )
    } else if (isObject(value) || (value === undefined && attribute.needed)) {
      holder[name] = this.#complete(attribute, value, { ...site, prefix: `${prefix}${name}.` })
    }
  }

  /** The object may name a class; otherwise the first counts. */
  #complete(attribute: EmbeddedAttribute, value: object | undefined, site: Site): Record<string, unknown> {
    const { name, variants, attributes } = attribute
    const holder: Record<string, unknown> = { ...value }
    if (variants !== undefined) {
      const { discriminator, byValue } = variants
      const { type } = attributes.find(each => each.name === discriminator) as ScalarAttribute
      const [first = ''] = byValue.keys()
      holder[discriminator] ??= type.kind === 'integer' ? Number(first) : first
    }
    // Validation rejects an impossible class.
    const attributesOfClass = variants === undefined ? attributes : (variants.byValue.get(String(holder[variants.discriminator])) ?? [])
    const inside: Site = { ...site, holder, bearer: name }
    for (const child of attributesOfClass) {
      if (child.kind === 'toOne') this.#addLink(child, inside)
      else this.#openValue(child, inside)
    }
    return holder
  }
}

/** `customerId: 1` becomes `customer: 1`. */
function nameRelations(overrides: Overrides, { byName }: Resource): Record<string, unknown> {
  const entries = Object.entries(overrides).map(([name, value]): [string, unknown] => {
    const attribute = byName.get(name)
    return [attribute !== undefined && isIds(attribute) ? attribute.idsOf : name, value]
  })
  return Object.fromEntries(entries)
}

/** To-ones with few columns come first: others may share the columns. */
function orderByColumns({ attributes }: Resource): readonly Attribute[] {
  const size = (attribute: Attribute): number => (attribute.kind === 'toOne' && attribute.owner ? attribute.columns.length : 0)
  return attributes.some(attribute => size(attribute) > 1) ? attributes.toSorted((a, b) => size(a) - size(b)) : attributes
}

/** For an abstract class, names the first class below. */
function chooseClass({ hierarchy, byName }: Resource, body: Record<string, unknown>): void {
  if (hierarchy?.attribute === undefined || hierarchy.classValue !== undefined) return
  const { attribute: name, byValue } = hierarchy
  const attribute = byName.get(name)
  const [first] = byValue.keys()
  if (first !== undefined) body[name] ??= attribute?.kind === 'scalar' && attribute.type.kind === 'integer' ? Number(first) : first
}

/** @throws RestError for a circle: no record could be the first */
function extendNeeds(needs: Needs, draft: RecordDraft, attribute: ToOneAttribute, at: string): Needs {
  const path = [...needs, { resource: draft.resource, attribute }]
  const start = path.findIndex(({ resource }) => resource === attribute.target)
  if (start >= 0) throw circleError(path.slice(start), joinPath(draft.path, at))
  return path
}

function circleError(needs: Needs, at: string): RestError {
  const steps = needs.map(({ resource, attribute }) => `${resource.singular}.${attribute.name}`)
  const detail =
    `given: "${at}" cannot be made up, since the model's relations need each other in a circle: ` +
    `${[...steps, needs[0]!.resource.singular].join(' → ')}. ` +
    `Give the ID of an existing ${needs.at(-1)!.attribute.target.singular}, or make one of them nullable.`
  return restError('validation_failed', detail, { errors: [{ code: 'required', detail, attribute: at }] })
}
