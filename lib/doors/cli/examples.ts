/** Finds at most three requests for the welcome: sorting, filtering, expanding, by the model and first records. No answer is empty. */
import { isRelation, type Attribute, type Resource, type ToManyAttribute } from '../../model/model.ts'
import { EVERYTHING, isVisible } from '../../records/plan/visibility.ts'
import { NO_VERSION, formatRoot } from '../../records/request/address.ts'
import { RESERVED } from '../../records/request/reserved-parameters.ts'
import { isText } from '../../foundation/values/scalar-type.ts'

interface ExampleEngine {
  readonly base: string
  readonly versions: readonly string[]
  /** Leaves no entry in the journal. */
  look(path: string): Promise<{ readonly status: number; readonly body?: unknown }>
}

interface SlowLink {
  readonly table: string
  readonly columns: readonly string[]
}

/**
 * @param wanted preferred paths below the version
 * @param slow lists that no example counts: each record would cost a scan of the table
 */
export async function findExampleRequests(
  engine: ExampleEngine,
  model: { readonly resources: readonly Resource[] },
  wanted: readonly string[] | undefined,
  slow: readonly SlowLink[] = [],
): Promise<string[]> {
  const root = formatRoot(engine.base, engine.versions[0] ?? NO_VERSION)
  if (wanted !== undefined) return wanted.map(path => root + path)
  const resources = model.resources.filter(({ rules }) => rules.single === undefined)
  const [only] = model.resources
  if (resources.length === 0 && only !== undefined) return [root + formatPath(only)]
  const paths = [findSort(resources, slow), await findFilter(resources, engine, root), findExpansion(resources)]
  const candidates = paths.filter(path => path !== undefined).map(path => root + path)
  // Rules or a log-in may refuse a path.
  const answers = await Promise.all(candidates.map(path => engine.look(path)))
  return candidates.filter((_, index) => answers[index]!.status === 200)
}

function findSort(resources: readonly Resource[], slow: readonly SlowLink[]): string | undefined {
  const [resource, list] = findAttribute(resources, attribute => attribute.kind === 'toMany' && !isSlow(attribute, slow))
  if (resource !== undefined) return `${formatPath(resource)}?sort=${encodeURIComponent(list.name)}.desc&limit=5`
  const [first] = resources
  return first === undefined
    ? undefined
    : `${formatPath(first)}?sort=${first.keyNames.map(name => `${encodeURIComponent(name)}.desc`).join(',')}&limit=5`
}

async function findFilter(resources: readonly Resource[], engine: ExampleEngine, root: string): Promise<string | undefined> {
  const [resource, attribute] = findAttribute(
    resources,
    attribute => attribute.kind === 'scalar' && !attribute.primary && isText(attribute.type),
  )
  if (resource === undefined) return undefined
  const name = encodeURIComponent(attribute.name)
  const { body } = await engine.look(`${root}${formatPath(resource)}?limit=1&attributes=${name}`)
  const records = (body as Record<string, unknown> | undefined)?.[resource.plural]
  const value = Array.isArray(records) ? (records[0] as Record<string, unknown> | undefined)?.[attribute.name] : undefined
  const initial = typeof value === 'string' ? /^[A-Za-z0-9]/.exec(value)?.[0] : undefined
  // The filter of an attribute with a reserved name ends with an underscore.
  return `${formatPath(resource)}?${name}${RESERVED.some(reserved => reserved === attribute.name) ? '_' : ''}=${initial ?? 'A'}*`
}

function findExpansion(resources: readonly Resource[]): string | undefined {
  const toOne = findAttribute(resources, attribute => attribute.kind === 'toOne')
  const [resource, relation] = toOne[0] === undefined ? findAttribute(resources, isRelation) : toOne
  return resource === undefined ? undefined : `${formatPath(resource)}?expand=${encodeURIComponent(relation.name)}&limit=3`
}

function isSlow({ via, target }: ToManyAttribute, slow: readonly SlowLink[]): boolean {
  const [table, linked] = via.kind === 'pivot' ? [via.table, via.ownerColumns] : [target.table, via.columns]
  return slow.some(
    link => link.table === table && link.columns.length === linked.length && link.columns.every(column => linked.includes(column)),
  )
}

function findAttribute(
  resources: readonly Resource[],
  suits: (attribute: Attribute) => boolean,
): [Resource, Attribute] | [undefined, undefined] {
  for (const resource of resources) {
    const attribute = resource.attributes.find(each => isVisible(each, EVERYTHING) && suits(each))
    if (attribute !== undefined) return [resource, attribute]
  }
  return [undefined, undefined]
}

function formatPath(resource: Resource): string {
  return `/${encodeURIComponent(resource.plural)}`
}
