/** Answers: the envelopes of successful requests, each a response component that operations refer to. */
import type { Attribute, Resource } from '../../model/model.ts'
import { pascalCase } from './components.ts'
import type { Components } from './components.ts'
import { header } from './failures.ts'
import type { RecordSchemas } from './record-schemas.ts'
import { anyOf, describeObject, orNull } from './schema.ts'
import type { Schema } from './schema.ts'
import type { ApiSource, DescribeOptions } from './source.ts'

const TIMESTAMP: Schema = { type: 'string', format: 'date-time' }
const SUCCESS = { success: { const: true }, timestamp: TIMESTAMP }
const OK: Schema = { const: 'OK' }
const LINK: Schema = { type: ['string', 'null'] }

export class Answers {
  readonly #source: ApiSource
  readonly #options: DescribeOptions
  readonly #components: Components
  readonly #records: RecordSchemas
  /** Whether the model itself may delete the record that a request changes. */
  readonly #removesOrphans: boolean

  constructor(source: ApiSource, options: DescribeOptions, components: Components, records: RecordSchemas) {
    this.#source = source
    this.#options = options
    this.#components = components
    this.#records = records
    this.#removesOrphans = source.model.entities.some(({ attributes }) =>
      attributes.some(each => (each.kind === 'toOne' || each.kind === 'toMany') && each.orphanRemoval),
    )
  }

  list(resource: Resource): Schema {
    return this.#refer(resource, 'List', `A page of ${resource.plural}.`, {
      resource: { const: resource.plural },
      sort: { type: ['string', 'null'], description: 'The order in effect.' },
      offset: { type: 'integer' },
      limit: { type: 'integer' },
      filter: {
        type: 'array',
        description: 'The filters: pairs of a name with its operator, and a value.',
        items: { type: 'array', minItems: 2, maxItems: 2, items: { type: 'string' } },
      },
      count: { type: 'integer', description: 'Records that meet the filters, on all pages.' },
      previous: { ...LINK, description: 'The path of the page before.' },
      next: { ...LINK, description: 'The path of the next page.' },
      [resource.plural]: { type: 'array', items: this.#records.refer(resource) },
    })
  }

  record(resource: Resource): Schema {
    return this.#refer(resource, 'Record', `The ${resource.singular}.`, this.#envelope(resource), { headers: this.#tag(resource) })
  }

  /** What a to-one links, which may be nothing. */
  linked(resource: Resource, isNullable: boolean): Schema {
    if (!isNullable) return this.record(resource)
    const members = { resource: { const: resource.singular }, [resource.singular]: orNull(this.#records.refer(resource)) }
    return this.#refer(resource, 'RecordOrNone', `The ${resource.singular}, or null where there is none.`, members, {
      headers: this.#tag(resource),
    })
  }

  changed(resource: Resource): Schema {
    if (!this.#removesOrphans) return this.record(resource)
    const description = `The ${resource.singular} as it is now; with \`status\`, as it was before the change has deleted it.`
    return this.#refer(
      resource,
      'Changed',
      description,
      { ...this.#envelope(resource), status: OK },
      {
        headers: this.#tag(resource),
        optional: ['status'],
      },
    )
  }

  created(resource: Resource, links: Schema): Schema {
    const headers = { Location: header('The path of the record.', 'string', 'uri-reference'), ...this.#tag(resource) }
    const members = { ...this.#envelope(resource), status: OK }
    if (!this.#options.bulk) return this.#refer(resource, 'Created', `The new ${resource.singular}.`, members, { headers, links })
    const list = {
      resource: { const: resource.plural },
      count: { type: 'integer' },
      [resource.plural]: { type: 'array', items: isWrapped(resource) ? {} : this.#records.refer(resource) },
      status: OK,
    }
    const form = { isOpen: isWrapped(resource) }
    return this.#components.refer('responses', `${pascalCase(resource.singular)}Created`, `Created ${resource.plural}`, () =>
      this.#response(
        `The new ${resource.singular}, or the new ${resource.plural} of an array.`,
        anyOf([describeEnvelope(members, form), describeEnvelope(list, form)]),
        { headers, links },
      ),
    )
  }

  deleted(resource: Resource): Schema {
    return this.#refer(resource, 'Deleted', `The ${resource.singular} as it was.`, { ...this.#envelope(resource), status: OK })
  }

  deletedList(resource: Resource): Schema {
    return this.#refer(resource, 'DeletedList', `The ${resource.plural} as they were.`, {
      resource: { const: resource.plural },
      count: { type: 'integer' },
      [resource.plural]: { type: 'array', items: this.#records.refer(resource) },
      status: OK,
    })
  }

  /** A plain attribute. */
  value(resource: Resource, attribute: Attribute): Schema {
    const schema = this.#records.attribute(attribute)
    const mayLack = attribute.flag !== undefined || attribute.of !== undefined
    const members = valueMembers(resource, attribute, mayLack ? orNull(schema) : schema)
    return this.#response(`The ${attribute.name} of a ${resource.singular}.`, describeEnvelope(members), {})
  }

  /** The record of one of several resources that a relation links, or nothing. */
  polymorphic(resource: Resource, attribute: Attribute, targets: readonly Resource[]): Schema {
    const forms = targets.map(target => describeEnvelope(this.#envelope(target)))
    const none = describeEnvelope(valueMembers(resource, attribute, { type: 'null' }))
    return this.#response(`What ${attribute.name} links, as a record of its own resource.`, anyOf([...forms, none]), {})
  }

  /** The envelope of the deletion of what such a relation links. */
  oneOfDeleted(attribute: Attribute, targets: readonly Resource[]): Schema {
    const forms = targets.map(target => describeEnvelope({ ...this.#envelope(target), status: OK }))
    return this.#response(`What ${attribute.name} linked, as it was.`, anyOf(forms), {})
  }

  /** An answer that is not a record. */
  plain(description: string, members: Readonly<Record<string, Schema>>, headers: Schema = {}): Schema {
    return this.#response(description, describeEnvelope(members), { headers })
  }

  /** An answer without an envelope. */
  bare(description: string, schema: Schema): Schema {
    return this.#response(description, schema, {})
  }

  #envelope(resource: Resource): Readonly<Record<string, Schema>> {
    return { resource: { const: resource.singular }, [resource.singular]: this.#records.refer(resource) }
  }

  /** The answer to a request whose condition names the tag. */
  notModified(): Schema {
    return this.#components.refer('responses', 'NotModified', 'status 304', () => ({
      description: 'The answer is the one whose entity tag `If-None-Match` names.',
      headers: { ETag: header('The entity tag.', 'string') },
    }))
  }

  #tag(resource: Resource): Schema {
    return !showsVersion(resource) ? {} : { ETag: header('The entity tag of the version, where the answer shows it.', 'string') }
  }

  #refer(
    resource: Resource,
    suffix: string,
    description: string,
    members: Readonly<Record<string, Schema>>,
    more: ResponseParts = {},
  ): Schema {
    const name = `${pascalCase(resource.singular)}${suffix}`
    return this.#components.refer('responses', name, `${suffix} ${resource.plural}`, () =>
      this.#response(description, describeEnvelope(members, { optional: more.optional, isOpen: isWrapped(resource) }), more),
    )
  }

  #response(description: string, schema: Schema, { headers = {}, links = {} }: ResponseParts): Schema {
    const timing = this.#source.serverTiming ? { 'Server-Timing': header('How long the stages of the request took.', 'string') } : {}
    const tag = this.#source.tagsContent ? { ETag: header('The entity tag of the content, in answers to GET.', 'string') } : {}
    const all = { ...tag, ...headers, ...timing }
    return {
      description,
      ...(Object.keys(all).length === 0 ? {} : { headers: all }),
      content: { 'application/json': { schema } },
      ...(Object.keys(links).length === 0 ? {} : { links }),
    }
  }
}

/** What a response has beside its body. */
interface ResponseParts {
  readonly headers?: Schema
  readonly links?: Schema
  /** Members of the body that may be absent. */
  readonly optional?: readonly string[]
}

interface EnvelopeForm {
  readonly optional?: readonly string[] | undefined
  readonly isOpen?: boolean
}

function describeEnvelope(members: Readonly<Record<string, Schema>>, { optional = [], isOpen = false }: EnvelopeForm = {}): Schema {
  const properties = { ...SUCCESS, ...members }
  return describeObject({ properties, required: Object.keys(properties).filter(name => !optional.includes(name)), isOpen })
}

/** Whether records have an entity tag of their version. */
export function showsVersion({ version }: Resource): boolean {
  return version !== undefined && !version.hidden && version.render === undefined
}

/** Whether functions of the application may put more into the answers about a resource. */
function isWrapped({ rules }: Resource): boolean {
  return Object.keys(rules.wrappers).length > 0
}

function valueMembers({ singular }: Resource, { name }: Attribute, value: Schema): Readonly<Record<string, Schema>> {
  return { resource: { const: singular }, attribute: { const: name }, value }
}
