/** Source: the input of a description: the model of one version, and the options of the engine. */
import type { SessionPaths } from '../../records/request/session-paths.ts'
import type { Limits } from '../../foundation/base/limits.ts'
import type { JsonRecord } from '../../records/read/run-read.ts'
import type { DefaultsOfLists } from '../../records/access/list-defaults.ts'
import type { CompiledTemplate } from '../../foundation/base/envelope-template.ts'
import type { ResourceLookup } from '../../records/access/resolve-path.ts'
import { isRelation, listTargets, type Attribute, type Model, type Resource } from '../../model/model.ts'
import type { Vocabulary } from '../../records/request/query-string.ts'
import { EVERYTHING, isVisible, type Visibility } from '../../records/plan/visibility.ts'

/** The log-in module, as far as a description needs it. */
export interface DescribedLogin {
  /** Names of the two members of a body; undefined where the application takes a body of its own. */
  readonly credentials: readonly [identifier: string, password: string] | undefined
  /** The resource of the users; undefined where this version does not serve it. */
  readonly user: Resource | undefined
  /** Whether a request needs no token. */
  readonly isPublic: (method: string, path: string) => boolean
  /** Whether a log-in is answered in the engine's own form. */
  readonly answers: boolean
  /** The name that may stand for `Bearer`. */
  readonly scheme: string | undefined
  readonly paths: SessionPaths
  /** Whether the application says where in a body the attributes of a user stand. */
  readonly nests: boolean
  /** The name of the cookie that may carry the token. */
  readonly cookie: string | undefined
  /** Whether a log-in gives a refresh token, too. */
  readonly refreshes: boolean
}

/** The ways to send a token, as the document names them; one of them is enough. */
export function listSecurity({ cookie }: DescribedLogin): readonly Readonly<Record<string, unknown>>[] {
  return [{ bearer: [] }, ...(cookie === undefined ? [] : [{ cookie: [] }])]
}

/** The templates of an engine, as far as a description needs them. */
export interface DescribedEnvelope {
  readonly list: CompiledTemplate | undefined
  readonly record: CompiledTemplate | undefined
  readonly removed: CompiledTemplate | undefined
  /** Whether refusals have a form of the application. */
  readonly error: unknown
}

export interface ApiSource {
  readonly model: Model
  /** Empty: paths have no version. */
  readonly version: string
  /** The path before the version. */
  readonly base: string
  readonly vocabulary: Vocabulary
  /** What lists have of which requests name none. */
  readonly defaults: DefaultsOfLists
  readonly lookUp: ResourceLookup
  readonly limits: Limits
  readonly createdStatus: number
  readonly deletedStatus: number
  /** Undefined: answers have the engine's own form. */
  readonly envelope: DescribedEnvelope | undefined
  readonly validationStatus: number
  /** Whether every answer of GET has an entity tag of its content. */
  readonly tagsContent: boolean
  readonly readOnly: boolean
  /** Whether a form may stand for JSON. */
  readonly forms: boolean
  readonly serverTiming: boolean
  /** Whether functions of the application take part in answers, which may refuse with codes of their own. */
  readonly runsApplicationCode: boolean
  /** Custom routes, without those of the log-in. */
  readonly routes: readonly { readonly method: string; readonly path: string }[]
  readonly login: DescribedLogin | undefined
  /** A record of each resource whose records anybody may read. */
  readonly examples: ReadonlyMap<Resource, JsonRecord>
}

/** How a document is written. */
export interface DescribeOptions {
  /** Whether it says all at each place: a path for each plain attribute, and every status that an operation may answer with. */
  readonly attributes: boolean
  /** Whether it is as short as clients that are generated can be made of: without words, examples, and the statuses of refusals. */
  readonly brief: boolean
  /** Version of OpenAPI. */
  readonly openapi: '3.1' | '3.2'
  readonly filters: ListedFilters
  /** Whether schemas of records require nothing, so that they hold for answers that `attributes` or `depth` cut down, too. */
  readonly sparse: boolean
  /** Whether POST is described with arrays, too. */
  readonly bulk: boolean
  readonly title: string
}

/** Which filters are listed as parameters. */
interface ListedFilters {
  /** How many to-one relations they walk; undefined: none is listed. */
  readonly hops: number | undefined
  /** Whether lists of relations list them, too, or those of resources alone: what a relation lists takes the filters of its resource. */
  readonly ofRelations: boolean
}

/** The visibility of a caller with all rights: everything that no rule forbids to all. */
export function describedVisibility({ flags }: Model): Visibility {
  return { ...EVERYTHING, shape: 'described', flags, allows: ({ rules }, action) => rules.access[action] !== false }
}

/** The flags by which attributes exist that answers with records of a resource may show. */
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

/** A name by which requests find the resource; the application's own look-up may know none of those that are known here. */
export function findSegment(resource: Resource, { lookUp, version }: Pick<ApiSource, 'lookUp' | 'version'>): string | undefined {
  return [resource.plural, ...resource.accepted].find(name => lookUp(name, version) === resource)
}
