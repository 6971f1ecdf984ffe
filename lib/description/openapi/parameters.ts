/** Describes reserved parameters, flags, custom parameters and headers of requests. */
import { formatSortKey } from '../../records/request/reserved-parameters.ts'
import { idNames } from '../../model/key.ts'
import { withArticle } from '../../foundation/base/article.ts'
import type { Resource } from '../../model/model.ts'
import { findParameterName, vocabularyOf } from '../../records/request/query-string.ts'
import { ALL_RESERVED, PARAMETERS, type Reserved } from '../../records/request/reserved-parameters.ts'
import type { ListDefaults } from '../../records/access/list-defaults.ts'
import { pascalCase } from './components.ts'
import { FilterParameters } from './filter-parameters.ts'
import { idSchema } from './record-schemas.ts'
import type { Schema } from './schema.ts'
import { flagsWithin } from './source.ts'
import { Describer, type DocumentParts } from './describer.ts'

const OF_LISTS = ALL_RESERVED.filter(name => !PARAMETERS[name].forRecords)
const OF_RECORDS = ALL_RESERVED.filter(name => PARAMETERS[name].forRecords)

export class ParameterSchemas extends Describer {
  readonly #filters: FilterParameters
  /** Cached: finding flags visits every resource that relations reach. */
  readonly #flags = new Map<Resource, readonly string[]>()

  constructor(parts: DocumentParts) {
    super(parts)
    this.#filters = new FilterParameters(parts)
  }

  id(resource: Resource): Schema {
    if (this.options.brief) return this.#anyId(idSchema(resource))
    const names = idNames(resource)
    const example = this.source.examples.get(resource)?.[names.length === 1 ? names[0]! : '']
    const isPlain = typeof example === 'string' || typeof example === 'number'
    return this.components.refer('parameters', `${pascalCase(resource.singular)}Id`, `id ${resource.plural}`, () => ({
      name: 'id',
      in: 'path',
      required: true,
      description: `The ID of ${withArticle(resource.singular)}${describeNames(resource)}.`,
      schema: idSchema(resource),
      ...(isPlain ? { example } : {}),
    }))
  }

  /** Brief documents share `{id}` between resources with equal ID schemas. */
  #anyId(schema: Schema): Schema {
    return this.components.refer('parameters', 'Id', `id ${JSON.stringify(schema)}`, () => ({
      name: 'id',
      in: 'path',
      required: true,
      schema,
    }))
  }

  /** For `/users`. */
  ofList(resource: Resource): Schema[] {
    const defaults = this.source.defaults.get(resource)
    return [
      ...this.#ofPaging(resource, defaults),
      ...this.ofRecords(resource),
      ...this.#ofApplication(resource),
      ...this.#filters.refer(resource),
    ]
  }

  /** For `/users/1/posts`. */
  ofRelatedList(resource: Resource): Schema[] {
    return [
      ...this.#ofPaging(resource),
      ...this.below(resource),
      ...(this.options.brief ? [] : this.#ofApplication(resource)),
      ...this.#relatedFilters(resource),
    ]
  }

  ofDeletion(resource: Resource): Schema[] {
    return [...(this.options.brief ? [] : this.#ofApplication(resource)), ...this.#relatedFilters(resource)]
  }

  ofCreation(resource: Resource): Schema[] {
    const { keyNames, uniques, byName } = resource
    const seen = [keyNames, ...uniques].filter(names => names.every(name => byName.get(name)?.hidden === false))
    const sets = seen.map(names => `\`${names.join()}\``)
    const description = `A unique key: ${sets.join(' or ')}. A record that has these values is changed instead.`
    const upsert = { name: 'upsert', in: 'query', description, schema: { type: 'string' } } as const
    return [...this.ofRecords(resource), ...(this.options.bulk && keyNames.length > 0 ? [upsert] : [])]
  }

  ofChange(resource: Resource): Schema[] {
    const description = 'The most records that the filters may choose; where more match, nothing is changed.'
    const schema = { type: 'integer', minimum: 0, maximum: this.source.limits.maxLimit } as const
    const limit = { name: findParameterName(this.source.vocabulary, 'limit'), in: 'query', required: true, description, schema }
    return [limit, ...this.ofRecords(resource), ...this.#ofApplication(resource), ...this.#filters.refer(resource)]
  }

  #ofPaging(resource: Resource, defaults?: ListDefaults): Schema[] {
    const known = new Set(this.source.vocabulary.reserved.values())
    return OF_LISTS.filter(each => known.has(each)).map(each => this.#reserved(each, resource, defaults))
  }

  #ofApplication({ plural }: Resource): Schema[] {
    return [...vocabularyOf(this.source.vocabulary, plural).own].map(name => this.#own(name))
  }

  #relatedFilters(resource: Resource): readonly Schema[] {
    return this.options.filters.ofRelations ? this.#filters.refer(resource) : []
  }

  #flagsWithin(resource: Resource): readonly string[] {
    const known = this.#flags.get(resource) ?? flagsWithin(resource, this.visibility)
    this.#flags.set(resource, known)
    return known
  }

  #flagsOf(resource: Resource): Schema[] {
    return this.#flagsWithin(resource).map(flag => this.#flag(flag))
  }

  flags(resource: Resource): Schema[] {
    return this.options.brief ? [] : this.#flagsOf(resource)
  }

  ofRecords(resource: Resource): Schema[] {
    return [...OF_RECORDS.map(each => this.#reserved(each, resource)), ...this.#flagsOf(resource)]
  }

  /** Brief documents omit parameters below a record, and `info.description` says so. */
  below(resource: Resource): Schema[] {
    return this.options.brief ? [] : this.ofRecords(resource)
  }

  conditions(): Schema[] {
    return [
      this.#header('If-Match', 'Only if the record has one of these entity tags; `*` is any. 412 otherwise.'),
      this.#header('If-None-Match', 'Only if the record has none of these entity tags. 412 otherwise.'),
    ]
  }

  freshness(): Schema {
    return this.#header('If-None-Match', 'Only if the answer has none of these entity tags; `*` is any. 304 otherwise.', 'Reading')
  }

  #header(name: string, description: string, by = ''): Schema {
    const schema = { type: 'string' }
    const component = `${pascalCase(name)}${by}`
    return this.components.refer('parameters', component, `header ${component}`, () => ({ name, in: 'header', description, schema }))
  }

  #flag(name: string): Schema {
    return this.components.refer('parameters', `${pascalCase(name)}Flag`, `flag ${name}`, () => ({
      name,
      in: 'query',
      description: 'A flag: the computed attributes of this name exist with it only.',
      schema: { type: 'boolean' },
    }))
  }

  #own(name: string): Schema {
    return this.components.refer('parameters', `${pascalCase(name)}Parameter`, `own ${name}`, () => ({
      name,
      in: 'query',
      description: 'A parameter of the application, which narrows the records.',
      schema: { type: 'string' },
    }))
  }

  #reserved(reserved: Reserved, resource: Resource, defaults?: ListDefaults): Schema {
    const name = findParameterName(this.source.vocabulary, reserved)
    const { schema, description } = this.#describe(reserved, resource, defaults)
    // Resources with the same default share a component.
    const variant = this.#variantOf(reserved, resource, defaults)
    const wanted = `${pascalCase(reserved)}${['', '1', 'null'].includes(variant) ? '' : `Of${pascalCase(resource.singular)}`}`
    return this.components.refer('parameters', wanted, `reserved ${reserved} ${variant}`, () => ({
      name,
      in: 'query',
      description,
      schema,
    }))
  }

  #variantOf(reserved: Reserved, { rules }: Resource, defaults: ListDefaults | undefined): string {
    if (reserved === 'depth') return String(rules.depth)
    if (reserved === 'expand') return rules.expand.join()
    return reserved === 'limit' || reserved === 'sort' ? JSON.stringify(defaults?.[reserved] ?? null) : ''
  }

  #describe(reserved: Reserved, { rules }: Resource, defaults?: ListDefaults): { readonly schema: Schema; readonly description: string } {
    const { defaultLimit, maxLimit } = this.source.limits
    switch (reserved) {
      case 'limit':
        return {
          schema: { type: 'integer', minimum: 0, default: defaults?.limit ?? Math.min(defaultLimit, maxLimit) },
          description: `Records of a page. More than ${maxLimit} counts as ${maxLimit}; 0 gives the count alone.`,
        }
      case 'offset':
        return {
          schema: { type: ['integer', 'string'], minimum: 0, pattern: '^(first|after\\..+)$', default: 0 },
          description: 'Records to skip. `first` begins pages by keys, which `next` goes on with: records that come or go move no other.',
        }
      case 'page':
        return { schema: { type: 'integer', minimum: 1 }, description: 'The number of the page, from 1, in the place of `offset`.' }
      case 'sort':
        return {
          schema: {
            type: 'string',
            examples: ['id.desc'],
            ...(defaults?.sort === undefined ? {} : { default: formatSort(defaults.sort) }),
          },
          description:
            'Comma-separated attributes, each with `.asc` (the default) or `.desc` behind it. ' +
            'Dots walk relations; a relation alone sorts by the number of its records.',
        }
      case 'depth':
        return {
          schema: { type: 'integer', enum: [0, 1, 2], default: rules.depth },
          description: '0 leaves relations out, 1 shows their IDs, 2 their records.',
        }
      case 'attributes':
        return {
          schema: { type: 'string' },
          description: 'Comma-separated attributes to show, all others are left out; with `!` before the name those to leave out.',
        }
      case 'expand': {
        const standard = rules.expand.length === 0 ? '' : ` Default: \`${rules.expand.join()}\`.`
        return {
          schema: { type: 'string' },
          description:
            'Comma-separated relations, dotted, to show as records instead of IDs. ' +
            `Parentheses take filters, order and page of a list: \`posts(sort=id.desc;limit=3)\`, \`posts(count)\`.${standard}`,
        }
      }
    }
  }
}

function formatSort(sort: NonNullable<ListDefaults['sort']>): string {
  return sort.map(formatSortKey).join()
}

function describeNames(resource: Resource): string {
  const names = idNames(resource)
  if (resource.shownKey !== undefined) return `: its "${names.join()}"`
  return names.length === 1 ? '' : `: ${names.join('~')}`
}
