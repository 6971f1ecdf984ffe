/** Describes successful answers, as response components of OpenAPI. */
import type { Attribute, Resource } from '../../model/model.ts'
import { hasFixed } from '../../model/resource-rules.ts'
import { pascalCase } from './components.ts'
import { header } from './failures.ts'
import type { RecordSchemas } from './record-schemas.ts'
import { NULL, anyOf, describeObject, orNull, type Schema } from './schema.ts'
import { COUNT, NAME, OK, PAGE, SUCCESS, ShapedSchemas, isWrapped, type Members } from './template-schemas.ts'
import type { DescribedLogin } from './source.ts'
import { Describer, type DocumentParts } from './describer.ts'

const SHARED = {
  Envelope: SUCCESS,
  PageEnvelope: { ...SUCCESS, ...PAGE },
  DoneEnvelope: { ...SUCCESS, ...OK },
  ListDoneEnvelope: { ...SUCCESS, ...COUNT, ...OK },
  RecordEnvelope: { ...SUCCESS, ...OK, resource: NAME },
  PageOf: { ...SUCCESS, resource: NAME, ...PAGE },
  DeletedOf: { ...SUCCESS, resource: NAME, ...COUNT, ...OK },
} satisfies Readonly<Record<string, Members>>
type Shared = keyof typeof SHARED

/** For a brief document: envelopes without `resource`, and with an optional `status`, share a schema. */
const BRIEF: Readonly<Partial<Record<Shared, Shared>>> = {
  Envelope: 'RecordEnvelope',
  DoneEnvelope: 'RecordEnvelope',
  PageEnvelope: 'PageOf',
  ListDoneEnvelope: 'DeletedOf',
}
const OPTIONAL: Readonly<Partial<Record<Shared, readonly string[]>>> = { RecordEnvelope: ['status'] }

export class Answers extends Describer {
  readonly #records: RecordSchemas
  readonly #shaped: ShapedSchemas
  /** Targets of `orphanRemoval`: a change may delete such a record. */
  readonly #orphans: ReadonlySet<Resource>

  constructor(parts: DocumentParts, records: RecordSchemas) {
    super(parts)
    this.#records = records
    this.#shaped = new ShapedSchemas(parts.source.envelope, records, parts.options.brief)
    this.#orphans = new Set(
      parts.source.model.entities.flatMap(({ attributes }) =>
        attributes.flatMap(each => ((each.kind === 'toOne' || each.kind === 'toMany') && each.orphanRemoval ? [each.target] : [])),
      ),
    )
  }

  list(resource: Resource): Schema {
    const own = this.#shaped.of('list', resource, this.#shaped.listOf(resource))
    const forms = { own, members: this.#listEnvelope(resource) }
    return this.#either(resource, 'List', `A page of ${resource.plural}.`, forms, { shared: 'PageEnvelope' })
  }

  record(resource: Resource): Schema {
    const own = this.#shaped.of('record', resource, this.#records.refer(resource))
    const forms = { own, members: this.#envelope(resource) }
    return this.#either(resource, 'Record', `The ${resource.singular}.`, forms, { headers: this.#tag(resource) })
  }

  linked(resource: Resource, isNullable: boolean): Schema {
    if (!isNullable) return this.record(resource)
    const record = orNull(this.#records.refer(resource))
    const forms = {
      own: this.#shaped.of('record', resource, record),
      members: { resource: { const: resource.singular }, [resource.singular]: record },
    }
    const description = `The ${resource.singular}, or null where there is none.`
    return this.#either(resource, 'RecordOrNone', description, forms, { headers: this.#tag(resource) })
  }

  changed(resource: Resource): Schema {
    // A template names `status` itself.
    const isShaped = this.source.envelope?.record !== undefined
    if (this.options.brief || isShaped || !this.#mayBeRemoved(resource)) return this.record(resource)
    const description = `The ${resource.singular} as it is now; with \`status\`, as it was before the change has deleted it.`
    const members = { ...this.#envelope(resource), ...OK }
    return this.#refer(resource, 'Changed', description, members, { headers: this.#tag(resource), optional: ['status'] })
  }

  /** With `upsert`: the record, changed or new, or the records of an array. */
  upserted(resource: Resource): Schema {
    const { singular, plural } = resource
    const description = `The ${singular} as changed, or the ${plural} of an array.`
    if (this.source.envelope !== undefined) return this.#response(description, {}, {})
    const shown = { [singular]: this.#records.refer(resource), [plural]: this.#shaped.listOf(resource) }
    const members = { resource: { enum: [singular, plural] }, ...shown, ...OK, ...COUNT }
    const optional = [singular, plural, 'status', 'count']
    return this.components.refer('responses', `${pascalCase(singular)}Upserted`, `Upserted ${plural}`, () =>
      this.#response(description, this.#describe(members, { optional, isOpen: true }), { headers: this.#tag(resource) }),
    )
  }

  /** The answer to a change of the caller's user has a new `auth_token` where a new password has ended the token. */
  own(resource: Resource, login: DescribedLogin): Schema {
    const description = `The ${resource.singular} as it is now; with \`auth_token\`, where a new password has ended the token.`
    const status = this.#mayBeRemoved(resource) ? OK : {}
    const text = { type: 'string' }
    const members = { ...this.#envelope(resource), ...status, auth_token: text, ...(login.refreshes ? { refreshToken: text } : {}) }
    const headers = { ...this.#tag(resource), ...this.cookies(login) }
    return this.#refer(resource, 'Own', description, members, { headers, optional: ['status', 'auth_token', 'refreshToken'] })
  }

  /**
   * A change may remove the record: as an orphan, or out of a fixed filter (`{ deletedAt: null }`). A class of a hierarchy may be a target,
   * and so each subclass.
   */
  #mayBeRemoved(resource: Resource): boolean {
    return (
      hasFixed(resource) ||
      this.#orphans.has(resource) ||
      (resource.hierarchy !== undefined && [...this.#orphans].some(({ hierarchy }) => hierarchy?.root === resource.hierarchy!.root))
    )
  }

  cookies({ cookie }: DescribedLogin): Schema {
    return cookie === undefined ? {} : { 'Set-Cookie': this.#header('Set-Cookie', 'The cookies of the log-in.') }
  }

  location(): Schema {
    return this.#header('Location', 'The path of the record.', 'uri-reference')
  }

  created(resource: Resource, links: Schema): Schema {
    if (this.options.brief && !this.options.bulk) return this.record(resource)
    const headers = { Location: this.location(), ...this.#tag(resource) }
    const own = this.#shaped.of('record', resource, this.#records.refer(resource))
    const all = this.options.bulk ? this.#shaped.of('list', resource, this.#shaped.listOf(resource)) : undefined
    const members = this.#envelope(resource)
    if (own !== undefined || all !== undefined) {
      const isOpen = isWrapped(resource)
      const first = own ?? this.#describe(members, { isOpen, shared: 'DoneEnvelope' })
      const list =
        all ??
        (this.options.bulk
          ? this.#describe(
              { resource: { const: resource.plural }, [resource.plural]: this.#shaped.listOf(resource) },
              { isOpen, shared: 'ListDoneEnvelope' },
            )
          : undefined)
      const schema = list === undefined ? first : anyOf([first, list])
      return this.#referOwn(resource, 'Created', `The new ${resource.singular}.`, schema, {
        headers: { ...headers, ...(list === undefined ? {} : this.#listHeaders()) },
        links,
      })
    }
    const one = { headers, links, shared: 'DoneEnvelope' as const }
    if (!this.options.bulk) return this.#refer(resource, 'Created', `The new ${resource.singular}.`, members, one)
    const list = {
      resource: { const: resource.plural },
      [resource.plural]: { type: 'array', items: isWrapped(resource) ? {} : this.#records.refer(resource) },
    }
    const isOpen = isWrapped(resource)
    return this.components.refer('responses', `${pascalCase(resource.singular)}Created`, `Created ${resource.plural}`, () =>
      this.#response(
        `The new ${resource.singular}, or the new ${resource.plural} of an array.`,
        anyOf([this.#describe(members, { isOpen, shared: 'DoneEnvelope' }), this.#describe(list, { isOpen, shared: 'ListDoneEnvelope' })]),
        { headers, links },
      ),
    )
  }

  /** `POST /users/1/posts`: the new post, or the user if the body is an existing post's ID. */
  appended(resource: Resource, owner: Resource, links: Schema): Schema {
    const [made, changed] = [this.created(resource, links), this.record(owner)]
    if (made['$ref'] === changed['$ref']) return made
    const schemas = [made, changed].map(ref => schemaOf(this.components.follow(ref)))
    const description = `The new ${resource.singular}; where one is linked, the ${owner.singular}.`
    return { ...this.components.follow(made), description, content: { 'application/json': { schema: anyOf(schemas) } } }
  }

  deleted(resource: Resource): Schema {
    const own = this.#shaped.removed(resource, this.#records.refer(resource), false)
    if (own === undefined && this.options.brief) return this.record(resource)
    const forms = { own, members: this.#envelope(resource) }
    return this.#either(resource, 'Deleted', `The ${resource.singular} as it was.`, forms, { shared: 'DoneEnvelope' })
  }

  deletedList(resource: Resource): Schema {
    const own = this.#shaped.removed(resource, this.#shaped.listOf(resource), true)
    const forms = { own, members: this.#listEnvelope(resource) }
    return this.#either(resource, 'DeletedList', `The ${resource.plural} as they were.`, forms, { shared: 'ListDoneEnvelope' })
  }

  changedList(resource: Resource): Schema {
    const own = this.#shaped.of('list', resource, this.#shaped.listOf(resource))
    const forms = { own, members: this.#listEnvelope(resource) }
    return this.#either(resource, 'ChangedList', `The ${resource.plural} as they are now.`, forms, { shared: 'ListDoneEnvelope' })
  }

  value(resource: Resource, attribute: Attribute): Schema {
    const members = valueMembers(resource, attribute, this.#valueSchema(attribute))
    if (this.source.envelope?.record?.isBare === true)
      return this.#response(`The ${attribute.name} of a ${resource.singular}.`, this.#valueSchema(attribute), {})
    return this.#response(`The ${attribute.name} of a ${resource.singular}.`, this.#describe(members), {})
  }

  values(resource: Resource, attributes: readonly Attribute[]): Schema {
    if (this.source.envelope?.record?.isBare === true)
      return this.#response(`The attribute of a ${resource.singular}.`, anyOf(attributes.map(each => this.#valueSchema(each))), {})
    const byForm = new Map<string, { readonly value: Schema; readonly names: string[] }>()
    const shared: Schema[] = []
    for (const attribute of attributes) {
      const value = this.#valueSchema(attribute)
      const form = JSON.stringify(value)
      const known = byForm.get(form)
      if (this.options.brief && this.#isCommon(attribute)) shared.push(this.#referValue(attribute.name, value))
      else if (known === undefined) byForm.set(form, { value, names: [attribute.name] })
      else known.names.push(attribute.name)
    }
    const forms = [...shared, ...[...byForm.values()].map(({ value, names }) => namedValue(names, value))]
    const { allOf, ...others } = this.#describe({ resource: { const: resource.singular } })
    const schema = { allOf: [...(allOf as readonly Schema[]), anyOf(forms)], ...others }
    return this.#response(`The attribute of a ${resource.singular}.`, schema, {})
  }

  /** Whether a shared component would make the document shorter. */
  #isCommon({ name }: Attribute): boolean {
    return this.source.model.resources.filter(({ byName }) => byName.has(name)).length > 2
  }

  #referValue(name: string, value: Schema): Schema {
    return this.components.refer('schemas', `${pascalCase(name)}Value`, `value ${name} ${JSON.stringify(value)}`, () =>
      namedValue([name], value),
    )
  }

  #valueSchema(attribute: Attribute): Schema {
    const schema = this.#records.attribute(attribute)
    return attribute.flag !== undefined || attribute.classValues !== undefined ? orNull(schema) : schema
  }

  polymorphic(resource: Resource, attribute: Attribute, targets: readonly Resource[]): Schema {
    const forms = targets.map(
      target => this.#shaped.of('record', target, this.#records.refer(target)) ?? this.#describe(this.#envelope(target), { isNamed: true }),
    )
    const isBare = this.source.envelope?.record?.isBare === true
    const none = isBare ? NULL : this.#describe(valueMembers(resource, attribute, { type: 'null' }))
    return this.#response(`What ${attribute.name} links, as a record of its own resource.`, anyOf([...forms, none]), {})
  }

  oneOfDeleted(attribute: Attribute, targets: readonly Resource[]): Schema {
    const forms = targets.map(
      target =>
        this.#shaped.removed(target, this.#records.refer(target), false) ??
        this.#describe(this.#envelope(target), { shared: 'DoneEnvelope', isNamed: true }),
    )
    return this.#response(`What ${attribute.name} linked, as it was.`, anyOf(forms), {})
  }

  gone(): Schema {
    return this.components.refer('responses', 'Deleted', 'status 204', () => ({ description: 'It is deleted.' }))
  }

  /** An answer without a record, such as to a log-in. */
  plain(description: string, members: Members, headers: Schema = {}): Schema {
    return this.#response(description, this.#describe(members), { headers })
  }

  bare(description: string, schema: Schema): Schema {
    return this.#response(description, schema, {})
  }

  /** The application's template (`own`), else the engine's envelope (`members`). */
  #either(
    resource: Resource,
    suffix: string,
    description: string,
    { own, members }: { readonly own: Schema | undefined; readonly members: Members },
    more: ResponseParts & EnvelopeForm,
  ): Schema {
    return own === undefined
      ? this.#refer(resource, suffix, description, members, more)
      : this.#referOwn(resource, suffix, description, own, more)
  }

  #listEnvelope(resource: Resource): Members {
    return { resource: { const: resource.plural }, [resource.plural]: { type: 'array', items: this.#records.refer(resource) } }
  }

  #referOwn(resource: Resource, suffix: string, description: string, schema: Schema, more: ResponseParts = {}): Schema {
    const name = this.options.brief ? briefName(resource, suffix) : `${pascalCase(resource.singular)}${suffix}`
    const headers = suffix.endsWith('List') ? { ...this.#listHeaders(), ...more.headers } : more.headers
    return this.components.refer('responses', name, `${suffix} ${resource.plural}`, () =>
      this.#response(description, schema, { ...more, headers }),
    )
  }

  /** A bare array can state its count only in a header. */
  #listHeaders(): Schema {
    if (this.source.envelope?.list?.isBare !== true) return {}
    return {
      'X-Total-Count': this.#header('X-Total-Count', 'Records that meet the filters, on all pages.'),
      Link: this.#header('Link', 'The pages before and after (RFC 8288).'),
    }
  }

  #envelope(resource: Resource): Members {
    return { resource: { const: resource.singular }, [resource.singular]: this.#records.refer(resource) }
  }

  notModified(): Schema {
    return this.components.refer('responses', 'NotModified', 'status 304', () => ({
      description: 'The answer is the one whose entity tag `If-None-Match` names.',
      headers: { ETag: header('The entity tag.', 'string') },
    }))
  }

  #tag(resource: Resource): Schema {
    return showsVersion(resource) ? { ETag: this.#header('ETag', 'The entity tag of the version, where the answer shows it.') } : {}
  }

  #header(name: string, description: string, format?: string): Schema {
    return this.components.refer('headers', pascalCase(name), `${name} ${description}`, () => header(description, 'string', format))
  }

  #refer(resource: Resource, suffix: string, description: string, members: Members, more: ResponseParts & EnvelopeForm = {}): Schema {
    const name = this.options.brief ? briefName(resource, suffix) : `${pascalCase(resource.singular)}${suffix}`
    const { shared, optional, headers, links } = more
    return this.components.refer('responses', name, `${suffix} ${resource.plural}`, () =>
      this.#response(description, this.#describe(members, { shared, optional, isOpen: isWrapped(resource) }), { headers, links }),
    )
  }

  #response(description: string, schema: Schema, { headers = {}, links = {} }: ResponseParts): Schema {
    if (this.options.brief) return { description, content: { 'application/json': { schema } } }
    const { serverTiming, etag } = this.source
    const all = {
      ...(etag === 'answer' ? { ETag: this.#header('ETag', 'The entity tag of the content, in answers to GET.') } : {}),
      ...headers,
      ...(serverTiming ? { 'Server-Timing': this.#header('Server-Timing', 'How long the stages of the request took.') } : {}),
    }
    return {
      description,
      ...(Object.keys(all).length === 0 ? {} : { headers: all }),
      content: { 'application/json': { schema } },
      ...(Object.keys(links).length === 0 ? {} : { links }),
    }
  }

  #describe(given: Members, { shared: asked = 'Envelope', optional = [], isOpen = false, isNamed = false }: EnvelopeForm = {}): Schema {
    const { brief } = this.options
    const { resource: _, ...unnamed } = given
    const members = brief && !isNamed ? unnamed : given
    const shared = brief && 'resource' in given ? (BRIEF[asked] ?? asked) : asked
    const make = (): Schema => {
      const names = Object.keys(SHARED[shared]).filter(name => OPTIONAL[shared]?.includes(name) !== true)
      return describeObject({ properties: SHARED[shared], required: names, isOpen: true })
    }
    const base = this.components.refer('schemas', shared, `envelope ${shared}`, make)
    const required = Object.keys(members).filter(name => !optional.includes(name))
    const { type: __, ...own } = describeObject({ properties: members, required, isOpen: true })
    const more = Object.keys(members).length === 0 ? {} : own
    return { allOf: [base], ...more, ...(isOpen || brief ? {} : { unevaluatedProperties: false }) }
  }
}

interface ResponseParts {
  readonly headers?: Schema | undefined
  readonly links?: Schema | undefined
}

interface EnvelopeForm {
  /** Default: `Envelope`. */
  readonly shared?: Shared | undefined
  readonly optional?: readonly string[] | undefined
  readonly isOpen?: boolean
  /** `resource` stays in a brief document, to tell alternatives apart. */
  readonly isNamed?: boolean
}

function briefName({ singular, plural }: Resource, suffix: string): string {
  if (suffix === 'List') return pascalCase(plural)
  return suffix === 'DeletedList' ? `${pascalCase(plural)}Deleted` : `${pascalCase(singular)}${suffix === 'Record' ? '' : suffix}`
}

export function showsVersion({ version }: Resource): boolean {
  return version !== undefined && !version.hidden && version.render === undefined
}

function namedValue(names: readonly string[], value: Schema): Schema {
  return {
    type: 'object',
    required: ['attribute', 'value'],
    properties: { attribute: names.length === 1 ? { const: names[0] } : { enum: names }, value },
  }
}

function valueMembers({ singular }: Resource, { name }: Attribute, value: Schema): Members {
  return { resource: { const: singular }, attribute: { const: name }, value }
}

function schemaOf(response: Schema): Schema {
  return (response['content'] as Readonly<Record<string, { readonly schema: Schema }>>)['application/json']!.schema
}
