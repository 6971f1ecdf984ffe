/** Describes answers in the form of the option `envelope`. */
import type { CompiledTemplate } from '../../foundation/http/envelope-template.ts'
import type { Part, TemplateNames } from '../../foundation/http/template-tree.ts'
import type { Resource } from '../../model/model.ts'
import type { DescribedEnvelope } from './source.ts'
import type { RecordSchemas } from './record-schemas.ts'
import { NULL, describeObject, type Schema } from './schema.ts'

type PartSchemas = { readonly [part in Part]?: Schema }

type NamedTree = ReturnType<CompiledTemplate['named']>

function describeTemplate(template: CompiledTemplate, names: TemplateNames, parts: PartSchemas, isOpen: boolean): Schema {
  if (template.isBare) return parts[[...template.parts][0]!] ?? {}
  return describeTree(template.named(names), parts, isOpen)
}

function describeTree(tree: NamedTree, parts: PartSchemas, isOpen: boolean): Schema {
  const members = tree.map(([key, part]): [string, Schema] => [
    key,
    typeof part === 'string' ? (parts[part] ?? {}) : describeTree(part, parts, isOpen),
  ])
  // Only answers to changes have a `status`.
  const required = tree.flatMap(([key, part]) => (part === 'status' ? [] : [key]))
  return describeObject({ properties: Object.fromEntries(members), required, isOpen })
}

export const SUCCESS: Members = { success: { const: true }, timestamp: { type: 'string', format: 'date-time' } }
export const OK: Members = { status: { const: 'OK' } }
const LINK: Schema = { type: ['string', 'null'] }
export const NAME: Schema = { type: 'string' }
export const COUNT: Members = { count: { type: 'integer' } }
export const PAGE: Members = {
  sort: { type: ['string', 'null'], description: 'The order in effect.' },
  offset: { type: ['integer', 'string'], description: 'Where the page begins, as asked.' },
  limit: { type: 'integer' },
  filter: {
    type: 'array',
    description: 'The filters: pairs of a name with its operator, and a value.',
    items: { type: 'array', minItems: 2, maxItems: 2, items: { type: 'string' } },
  },
  count: { type: 'integer', description: 'Records that meet the filters, on all pages.' },
  previous: { ...LINK, description: 'The path of the page before.' },
  next: { ...LINK, description: 'The path of the next page.' },
}

export type Members = Readonly<Record<string, Schema>>

const ANY_NUMBER: Schema = { type: ['integer', 'null'] }
const PART_SCHEMAS: PartSchemas = { ...SUCCESS, ...OK, ...PAGE, page: ANY_NUMBER, pages: ANY_NUMBER }

export function isWrapped({ rules }: Resource): boolean {
  return Object.keys(rules.wrappers).length > 0
}

export class ShapedSchemas {
  readonly #envelope: DescribedEnvelope | undefined
  readonly #records: RecordSchemas
  readonly #isOpen: boolean

  /** @param isOpen whether answers may have other members */
  constructor(envelope: DescribedEnvelope | undefined, records: RecordSchemas, isOpen: boolean) {
    this.#envelope = envelope
    this.#records = records
    this.#isOpen = isOpen
  }

  listOf(resource: Resource): Schema {
    return { type: 'array', items: this.#records.refer(resource) }
  }

  /** @returns undefined for the engine's form */
  of(kind: 'list' | 'record', resource: Resource, carried: Schema): Schema | undefined {
    const template = this.#envelope?.[kind]
    const name = kind === 'list' ? resource.plural : resource.singular
    return template === undefined
      ? undefined
      : this.#byTemplate(template, resource, {
          ...PART_SCHEMAS,
          [kind === 'list' ? 'records' : 'record']: carried,
          resource: { const: name },
        })
  }

  removed(resource: Resource, carried: Schema, isList: boolean): Schema | undefined {
    const template = this.#envelope?.removed
    if (template === undefined) return this.of(isList ? 'list' : 'record', resource, carried)
    const records = isList ? carried : { type: 'array', items: carried }
    return this.#byTemplate(template, resource, {
      ...PART_SCHEMAS,
      record: isList ? (template.isBare ? carried : NULL) : carried,
      records,
      resource: { const: isList ? resource.plural : resource.singular },
    })
  }

  #byTemplate(template: CompiledTemplate, resource: Resource, parts: PartSchemas): Schema {
    return describeTemplate(template, resource, parts, this.#isOpen || isWrapped(resource))
  }
}
