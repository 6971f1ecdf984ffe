/** The input of a description, from the model and the options of a version. */
import type { SessionPaths } from '../../records/request/session-paths.ts'
import type { Limits } from '../../foundation/base/limits.ts'
import type { JsonRecord } from '../../records/read/run-read.ts'
import type { DefaultsOfLists } from '../../records/access/list-defaults.ts'
import type { CompiledTemplate } from '../../foundation/http/envelope-template.ts'
import type { ResourceLookup } from '../../records/access/resolve-path.ts'
import { isRelation, listTargets, type Attribute, type Model, type Resource } from '../../model/model.ts'
import type { Vocabulary } from '../../records/request/query-string.ts'
import { EVERYTHING, isVisible, type Visibility } from '../../records/plan/visibility.ts'

export interface DescribedLogin {
  /** Undefined: the application reads a body of its own. */
  readonly credentials: readonly [identifier: string, password: string] | undefined
  /** Undefined: the version does not serve users. */
  readonly user: Resource | undefined
  readonly isPublic: (method: string, path: string) => boolean
  readonly answers: boolean
  /** A name that may replace `Bearer`. */
  readonly scheme: string | undefined
  readonly paths: SessionPaths
  readonly nests: boolean
  readonly cookie: string | undefined
  readonly refreshes: boolean
}

/** OpenAPI reads the list as alternatives: a bearer token or the cookie. */
export function listSecurity({ cookie }: DescribedLogin): readonly Readonly<Record<string, unknown>>[] {
  return [{ bearer: [] }, ...(cookie === undefined ? [] : [{ cookie: [] }])]
}

export interface DescribedEnvelope {
  readonly list: CompiledTemplate | undefined
  readonly record: CompiledTemplate | undefined
  readonly removed: CompiledTemplate | undefined
  /** Undefined: the engine's form of refusals. */
  readonly error: unknown
}

export interface ApiSource {
  readonly model: Model
  /** Empty: paths have no version. */
  readonly version: string
  readonly base: string
  readonly vocabulary: Vocabulary
  /** For requests that set no limit, order or filter. */
  readonly defaults: DefaultsOfLists
  readonly lookUp: ResourceLookup
  readonly limits: Limits
  readonly createdStatus: number
  readonly deletedStatus: number
  /** Undefined: the engine's form of answers. */
  readonly envelope: DescribedEnvelope | undefined
  readonly validationStatus: number
  /** `answer`: answers to GET have an entity tag of their content. */
  readonly etag: 'version' | 'answer'
  readonly readOnly: boolean
  readonly forms: boolean
  readonly serverTiming: boolean
  /** The grammar of a way in is not described. */
  readonly hasWire: boolean
  /** Application functions may refuse with own codes. */
  readonly runsApplicationCode: boolean
  readonly routes: readonly { readonly method: string; readonly path: string }[]
  readonly login: DescribedLogin | undefined
  /** Only of resources that every caller may read. */
  readonly examples: ReadonlyMap<Resource, JsonRecord>
}

export interface DescribeOptions {
  /** Each plain attribute has a path, each operation lists every status. */
  readonly attributes: boolean
  /** Omits what client generators do not need: texts, examples, single statuses of refusals. */
  readonly brief: boolean
  readonly openapi: '3.1' | '3.2'
  readonly filters: ListedFilters
  /** Schemas require no attribute, and fit answers to `attributes` or `depth`. */
  readonly sparse: boolean
  /** POST also takes arrays. */
  readonly bulk: boolean
  readonly title: string
}

interface ListedFilters {
  /** To-one relations that a filter may walk. Undefined: lists no filters. */
  readonly hops: number | undefined
  readonly ofRelations: boolean
}

/** A caller with all rights: only rules that forbid an action to everybody hide something. */
export function describedVisibility({ flags }: Model): Visibility {
  return { ...EVERYTHING, shape: 'described', flags, allows: ({ rules }, action) => rules.access[action] !== false }
}

export function flagsWithin(resource: Resource, visibility: Visibility): string[] {
  const seen = new Set<Resource>()
  const flags = new Set<string>()
  const visit = (attributes: readonly Attribute[]): void => {
    for (const attribute of attributes) {
      if (attribute.flag !== undefined) flags.add(attribute.flag)
      if (attribute.kind === 'embedded') visit(attribute.attributes)
      else if ((isRelation(attribute) || attribute.kind === 'toOneOf') && isVisible(attribute, visibility))
        listTargets(attribute).forEach(enter)
    }
  }
  const enter = (target: Resource): void => {
    if (seen.has(target)) return
    seen.add(target)
    visit(target.attributes)
  }
  enter(resource)
  return [...flags].toSorted()
}

/** @returns undefined if the application's look-up knows no name */
export function findSegment(resource: Resource, { lookUp, version }: Pick<ApiSource, 'lookUp' | 'version'>): string | undefined {
  return [resource.plural, ...resource.accepted].find(name => lookUp(name, version) === resource)
}
