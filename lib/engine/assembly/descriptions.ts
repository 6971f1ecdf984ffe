/** Makes OpenAPI documents and diagrams of an engine. Present records are the examples: changed examples make a new document. */
import type { AnswerCheck } from '../../description/conformity/held-answer.ts'
import type { HookContext } from '../../model/hook-context.ts'
import { anything, filledText, flag, mustRange, readOptions, type OptionTable } from '../../foundation/base/option-table.ts'
import { findNearest, formatHint } from '../../foundation/base/suggest.ts'
import type { Model, Resource } from '../../model/model.ts'
import type { Diagram } from '../../description/diagram/diagram-parts.ts'
import { findSegment, type ApiSource, type DescribedLogin, type DescribeOptions } from '../../description/openapi/source.ts'
import type { OpenApiDocument } from '../../description/openapi/openapi-document.ts'
import { NO_VERSION, listVersions } from '../../records/request/address.ts'
import type { JsonRecord } from '../../records/read/run-read.ts'
import type { Services } from '../pipeline/operate.ts'
import type { CheckedOptions } from '../options/options.ts'
import { isRendered } from '../../records/validate/model-traits.ts'

/** Options of `engine.openapi`. */
export interface OpenApiOptions {
  /** Version of the API. Default: the first version. */
  readonly version?: string
  /** Version of OpenAPI. Default: `'3.1'`. */
  readonly openapi?: '3.1' | '3.2'
  /**
   * Summaries, descriptions, examples, headers, patterns, single statuses of refusals, and parameters of paths below a record. Default:
   * false, enough for generated clients.
   */
  readonly details?: boolean
  /**
   * Says all at each place: plain attributes have paths, operations list each status, filters explain operators. The document is several
   * times as large. Default: false.
   */
  readonly attributes?: boolean
  /**
   * Filters that lists name as parameters: the number of to-one relations to walk (0: own attributes alone), or `'none'`. Default: lists of
   * resources name own attributes, lists of relations none; with `attributes: true`: 1. Requests take all filters.
   */
  readonly filters?: number | 'none'
  /**
   * Schemas of records require nothing, and hold for answers with `attributes` or `depth=0`. Default: false: clients know which members are
   * always present.
   */
  readonly sparse?: boolean
  /** POST takes arrays, too, and answers with lists. Default: false. */
  readonly bulk?: boolean
  /** Title of the API. Default: `'REST API'`. */
  readonly title?: string
}

/** Options of `engine.diagram`. */
export interface DiagramOptions {
  /** Version of the API. Default: the first version. */
  readonly version?: string
  /** `'svg'`: a picture; `'mermaid'`: the text of a Mermaid `erDiagram`. Default: `'svg'`. */
  readonly format?: 'svg' | 'mermaid'
}

interface DescriptionParts {
  readonly options: CheckedOptions
  readonly served: ReadonlyMap<string, Services>
  readonly login: (version: string) => DescribedLogin | undefined
  /** The application's hooks or subscribers may refuse. */
  readonly runsHooks: () => boolean
  readonly context: (version: string) => HookContext
  /**
   */
  readonly hasWire: () => boolean
}

interface KnownDocument {
  readonly examples: string
  readonly text: string
}

/** Listed filters multiply with each relation. */
const MAX_HOPS = 3

const OPTIONS = {
  version: [anything],
  openapi: [mustRange('"3.1" or "3.2"', value => value === '3.1' || value === '3.2', JSON.stringify), '3.1'],
  details: [flag, false],
  attributes: [flag, false],
  filters: [mustRange(`"none" or the relations that filters walk, 0 to ${MAX_HOPS}`, areFilters, JSON.stringify)],
  sparse: [flag, false],
  bulk: [flag, false],
  title: [filledText, 'REST API'],
} as const satisfies OptionTable<OpenApiOptions>
const DIAGRAM = {
  version: [anything],
  format: [mustRange('"svg" or "mermaid"', value => value === 'svg' || value === 'mermaid', JSON.stringify), 'svg'],
} as const satisfies OptionTable<DiagramOptions>
/** Forks share the checks of a model. */
const KNOWN_CONFORMITIES = new WeakMap<Model, Map<string, Promise<AnswerCheck>>>()
const MOST_DOCUMENTS = 20

export class Descriptions {
  readonly #parts: DescriptionParts
  readonly #documents = new Map<string, KnownDocument>()
  /** A resource with the value `undefined` is not asked again. */
  readonly #foundExamples = new WeakMap<Model, Map<Resource, JsonRecord | undefined>>()

  constructor(parts: DescriptionParts) {
    this.#parts = parts
  }

  /**
   * @param readOnly default: as the engine is
   * @param base the path before the version, as the asker sees the path; default: the engine's
   * @returns a new document for each caller
   * @throws TypeError, RangeError
   */
  async describe(
    given: OpenApiOptions = {},
    readOnly = this.#parts.options.readOnly,
    base = this.#parts.options.base,
  ): Promise<OpenApiDocument> {
    const { version, options } = this.#checked(given)
    const [{ describeApi }, { shorten }] = await Promise.all([
      import('../../description/openapi/document.ts'),
      import('../../description/openapi/shorten.ts'),
    ])
    const services = this.#parts.served.get(version)!
    const login = this.#parts.login(version)
    const examples = options.brief ? new Map<Resource, JsonRecord>() : await this.#findExamples(services, version, login)
    const learned = services.model.isOpen ? services.model.resources.map(({ open }) => open?.learned ?? []) : []
    const scopes = services.model.resources.map(({ rules }) => rules.scopes.length)
    const key = JSON.stringify([version, options, readOnly, base, learned, scopes, this.#parts.hasWire()])
    const shown = JSON.stringify([...examples.values()])
    const known = this.#documents.get(key)
    if (known?.examples === shown) return JSON.parse(known.text) as OpenApiDocument
    const document = describeApi({ ...this.#createSource(services, version, login, examples), readOnly, base }, options)
    const text = JSON.stringify(options.brief ? shorten(document) : document)
    if (this.#documents.size >= MOST_DOCUMENTS) this.#documents.clear()
    this.#documents.set(key, { examples: shown, text })
    return JSON.parse(text) as OpenApiDocument
  }

  /** @throws RangeError for an unknown version */
  async diagram(version: string | undefined, where = 'engine.diagram'): Promise<Diagram> {
    const { describeDiagram } = await import('../../description/diagram/diagram.ts')
    const name = this.#findVersion(version, where)
    const { model, lookUp } = this.#parts.served.get(name)!
    return describeDiagram(model, resource => findSegment(resource, { lookUp, version: name }) !== undefined)
  }

  /** @throws TypeError, RangeError */
  async draw(given: DiagramOptions = {}): Promise<string> {
    const { version, format } = readOptions(given, DIAGRAM, 'engine.diagram')
    const diagram = await this.diagram(version)
    if (format === 'mermaid') return (await import('../../description/diagram/mermaid.ts')).writeMermaid(diagram)
    return (await import('../../description/diagram/svg.ts')).drawDiagram(diagram, { title: 'Model', isWhole: true })
  }

  /** Checks answers by a document without examples and filters. */
  conformity(version: string, sparse: boolean): Promise<AnswerCheck> {
    const { model } = this.#parts.served.get(version)!
    const known = KNOWN_CONFORMITIES.get(model) ?? new Map<string, Promise<AnswerCheck>>()
    KNOWN_CONFORMITIES.set(model, known)
    // A self-test may write in the fork of a read-only engine.
    const key = `${sparse} ${this.#parts.options.readOnly}`
    const found = known.get(key) ?? this.#conform(version, sparse)
    known.set(key, found)
    return found
  }

  async #conform(version: string, sparse: boolean): Promise<AnswerCheck> {
    const { options } = this.#checked({ version, attributes: true, sparse, bulk: true, filters: 'none' })
    const [{ describeApi }, { Conformity: Conform }] = await Promise.all([
      import('../../description/openapi/document.ts'),
      import('../../description/conformity/conformity.ts'),
    ])
    const source = this.#createSource(this.#parts.served.get(version)!, version, this.#parts.login(version), new Map())
    return new Conform(describeApi({ ...source, readOnly: this.#parts.options.readOnly, base: '' }, options))
  }

  #checked(given: OpenApiOptions): { readonly version: string; readonly options: DescribeOptions } {
    const read = readOptions(given, OPTIONS, 'engine.openapi')
    const { openapi, details, attributes, filters = attributes ? 1 : undefined, sparse, bulk, title } = read
    const version = this.#findVersion(given.version, 'engine.openapi')
    return {
      version,
      options: {
        openapi,
        attributes,
        brief: !details && !attributes,
        sparse,
        bulk,
        title,
        filters: { hops: filters === 'none' ? undefined : (filters ?? 0), ofRelations: filters !== undefined },
      },
    }
  }

  async #findExamples(services: Services, version: string, login: DescribedLogin | undefined): Promise<ReadonlyMap<Resource, JsonRecord>> {
    const { findExamples } = await import('../pipeline/find-examples.ts')
    const kept = this.#foundExamples.get(services.model) ?? new Map<Resource, JsonRecord | undefined>()
    this.#foundExamples.set(services.model, kept)
    return findExamples(services, { version, login, ctx: () => this.#parts.context(version) }, kept)
  }

  #findVersion(given: string | undefined, where: string): string {
    const { versions } = this.#parts.options
    const version = given ?? versions[0] ?? NO_VERSION
    if (listVersions(versions).includes(version)) return version
    const called = JSON.stringify(version)
    throw new RangeError(`${where}: there is no version ${called}.${formatHint(findNearest(called, versions))}`)
  }

  #createSource(
    services: Services,
    version: string,
    login: DescribedLogin | undefined,
    examples: ReadonlyMap<Resource, JsonRecord>,
  ): ApiSource {
    const { options, runsHooks, hasWire } = this.#parts
    const { own, of } = services.vocabulary
    const runsApplicationCode = mayRefuse(services.model, options) || runsHooks() || own.size > 0 || of !== undefined
    return { ...options, ...services, version, login, examples, runsApplicationCode, hasWire: hasWire() }
  }
}

function areFilters(filters: unknown): boolean {
  return filters === 'none' || (Number.isSafeInteger(filters) && (filters as number) >= 0 && (filters as number) <= MAX_HOPS)
}

/** Functions of the application may refuse with codes of their own. */
function mayRefuse({ resources }: Model, { auth, lookup }: CheckedOptions): boolean {
  if (lookup !== undefined || auth?.options.authenticate !== undefined) return true
  return resources.some(
    ({ rules: { access, scopes, wrappers }, attributes }) =>
      scopes.length > 0 ||
      Object.keys(wrappers).length > 0 ||
      Object.values(access).some(rule => typeof rule === 'function') ||
      attributes.some(isRendered),
  )
}
