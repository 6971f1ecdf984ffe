/**
 * Record drafts: completes what a caller gives to the structure of a graph. A draft stands for each record that is to be inserted, parents
 * included; its slots are the attributes whose values are still to be made up. Rejects relations that need each other in a circle.
 */
import { isIds } from '../../model/ids-name.ts'
import { restError, type RestError } from '../../foundation/base/errors.ts'
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
import { mayLinkItself } from '../../records/write/check-database.ts'
import { findAskedClass, isOfClass } from '../../records/write/record-class.ts'
import { filledSide, owningName } from '../../records/write/relation-sides.ts'
import { isObject } from '../../foundation/base/json.ts'
import { requireFew, type Overrides } from './given-options.ts'
import { joinPath } from '../../records/write/validation-context.ts'

/** The relations that need a record, the outermost first. */
type Needs = readonly { readonly resource: Resource; readonly attribute: ToOneAttribute }[]

/** The place of a draft in the graph. */
interface DraftContext {
  readonly path: string
  readonly stream: string
  readonly implied?: RecordDraft['implied']
  /** The other side of the one-to-one by which its owner links the record. */
  readonly linkedFrom?: string | undefined
  /** Empty for a record that the caller asks for. */
  readonly needs?: Needs
  /** The attribute by which another record refers to it. */
  readonly referredBy?: string | undefined
  /** Values that follow from the record that links it. */
  readonly inherited?: ReadonlyMap<string, () => unknown>
}

/** The object that an attribute is completed in: the body of a draft, or an embedded object in it. */
interface Site {
  readonly draft: RecordDraft
  readonly holder: Record<string, unknown>
  /** The path of the object within the record: empty for the body, else with a dot at its end. */
  readonly prefix: string
  readonly bearer: string
  readonly needs: Needs
}

/** The drafts of a graph. */
export class RecordDrafts {
  readonly all: RecordDraft[] = []
  readonly #keys = new SharedKeys()
  readonly #made: ReadonlySet<ScalarAttribute>

  readonly #most: number

  /**
   * @param made attributes that are made up although they have a default
   * @param most limit of the records
   */
  constructor(made: ReadonlySet<ScalarAttribute>, most = Infinity) {
    this.#made = made
    this.#most = most
  }

  /** Adds a record with all that it needs. */
  add(resource: Resource, overrides: Overrides, context: DraftContext): RecordDraft {
    const { path, stream, implied, linkedFrom, needs = [], referredBy, inherited } = context
    const body = nameRelations(overrides, resource)
    chooseClass(resource, body)
    const own = findAskedClass(resource, body)
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
    requireFew(this.all.length, this.#most)
    this.#keys.add(draft)
    const site: Site = { draft, holder: body, prefix: '', bearer: resource.singular, needs }
    for (const attribute of orderByColumns(resource)) {
      const { name } = attribute
      // The record does not need what only other classes of the hierarchy have.
      if (name === implied?.name || name === linkedFrom || draft.pending.has(name) || !isOfClass(attribute, own)) continue
      if (attribute.kind === 'toMany') this.#addList(attribute, draft)
      else if (attribute.kind === 'toOne') this.#addLink(attribute, site)
      else if (attribute.kind === 'toOneOf') this.#addLinkToOneOf(attribute, site)
      else this.#openValue(attribute, site, name === referredBy)
    }
    this.#keys.finish(draft)
    return draft
  }

  /** Sets the values that follow from others, once all slots are filled. */
  resolve(): void {
    this.#keys.resolve()
  }

  #addList(attribute: ToManyAttribute, draft: RecordDraft): void {
    const { name } = attribute
    const value = draft.body[name]
    const isCount = typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
    if (isCount) requireFew(this.all.length + value, this.#most)
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
    } else if (value === undefined && attribute.needed && prefix === '' && mayLinkItself(attribute, draft.resource)) {
      this.#keys.linkItself(draft, attribute)
    } else if (value === undefined && attribute.needed) {
      holder[name] = this.#addNested(attribute, {}, draft, at, extendNeeds(needs, draft, attribute, at))
    }
  }

  /** Links a record of the resource that the overrides name, else of the first of several. */
  #addLinkToOneOf({ name, typeName, branches, needed }: ToOneOfAttribute, { draft, needs }: Site): void {
    const value = draft.body[name]
    if (isObject(value)) {
      const { [typeName]: type, ...rest } = value
      const branch = branches.find(({ target }) => target.singular === type)
      const isLink = 'id' in rest && Object.keys(rest).length === 1
      // The values that are made up go to the object itself, so it is completed in place.
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

  /** Opens slots for values that are needed and not given. */
  #openValue(attribute: ScalarAttribute | EmbeddedAttribute, site: Site, isReferred = false): void {
    const { name } = attribute
    const { draft, holder, prefix, bearer } = site
    const value = holder[name]
    if (attribute.kind === 'scalar') {
      // A key that a life-cycle function makes would be another one each time.
      const isMade =
        attribute.needed ||
        isReferred ||
        this.#made.has(attribute) ||
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

  /**
   * Returns an embedded object with slots for the values that it needs. Of several classes it has the one that it names, else the first.
   */
  #complete(attribute: EmbeddedAttribute, value: object | undefined, site: Site): Record<string, unknown> {
    const { name, variants, attributes } = attribute
    const holder: Record<string, unknown> = { ...value }
    if (variants !== undefined) {
      const { discriminator, byValue } = variants
      const { type } = attributes.find(each => each.name === discriminator) as ScalarAttribute
      const [first = ''] = byValue.keys()
      holder[discriminator] ??= type.kind === 'integer' ? Number(first) : first
    }
    // The validation rejects a class that the object cannot have.
    const own = variants === undefined ? attributes : (variants.byValue.get(String(holder[variants.discriminator])) ?? [])
    const inside: Site = { ...site, holder, bearer: name }
    for (const child of own) {
      if (child.kind === 'toOne') this.#addLink(child, inside)
      else this.#openValue(child, inside)
    }
    return holder
  }
}

/** Returns the values that a caller gives, those of IDs under the names of their relations. */
function nameRelations(overrides: Overrides, { byName }: Resource): Record<string, unknown> {
  const entries = Object.entries(overrides).map(([name, value]): [string, unknown] => {
    const attribute = byName.get(name)
    return [attribute !== undefined && isIds(attribute) ? attribute.idsOf : name, value]
  })
  return Object.fromEntries(entries)
}

/** Returns the attributes of a resource, the to-ones with the fewest columns first: those with more may share columns with them. */
function orderByColumns({ attributes }: Resource): readonly Attribute[] {
  const size = (attribute: Attribute): number => (attribute.kind === 'toOne' && attribute.owner ? attribute.columns.length : 0)
  return attributes.some(attribute => size(attribute) > 1) ? attributes.toSorted((a, b) => size(a) - size(b)) : attributes
}

/** Chooses a class for a record of an abstract one: the first below it, where the overrides do not name one. */
function chooseClass({ hierarchy, byName }: Resource, body: Record<string, unknown>): void {
  if (hierarchy?.attribute === undefined || hierarchy.classValue !== undefined) return
  const { attribute: name, byValue } = hierarchy
  const attribute = byName.get(name)
  const [first] = byValue.keys()
  if (first !== undefined) body[name] ??= attribute?.kind === 'scalar' && attribute.type.kind === 'integer' ? Number(first) : first
}

/** Returns the needs with one more relation; rejects a circle, in which none of the records could come first. */
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
