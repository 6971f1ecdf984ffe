/** Writes `curl` commands for the docs page, ready to run, with a resource's example. */
import { withArticle } from '../../foundation/base/article.ts'
import type { PageApi, PageOperation, PageResource } from './described-api.ts'

export interface ShownRequest {
  readonly kind: 'page' | 'filter' | 'sort' | 'expand' | 'record' | 'write'
  readonly title: string
  readonly command: string
  /** Undefined: the request needs a token. */
  readonly link?: string | undefined
  /** In the workbench: `#/console/GET?/users`. */
  readonly place?: string
}

export interface PageAddress {
  /** Scheme and host: `http://localhost:3000`. */
  readonly origin: string
  readonly base: string
  /** Empty: paths have no version. */
  readonly version: string
}

export function listRequests(resource: PageResource, address: PageAddress): ShownRequest[] {
  const { list, one, creation, change, id, body, changes, singular } = resource
  const read = (kind: ShownRequest['kind'], title: string, operation: PageOperation, path: string): ShownRequest => ({
    kind,
    title,
    command: writeCurl(operation, path, address),
    link: operation.takesToken ? undefined : address.base + path,
    place: placeInConsole(operation, path, address),
  })
  const write = (title: string, operation: PageOperation, path: string, given: object): ShownRequest => ({
    kind: 'write',
    title,
    command: writeCurl(operation, path, address, given),
    place: placeInConsole(operation, path, address, given),
  })
  const record = one === undefined ? undefined : fillId(one.path, id)
  return [
    ...(list === undefined ? [] : listReadings(resource, list).map(({ kind, title, query }) => read(kind, title, list, list.path + query))),
    ...(one === undefined || record === undefined ? [] : [read('record', `Read one ${singular}`, one, record)]),
    ...(creation === undefined || body === undefined ? [] : [write(`Create ${withArticle(singular)}`, creation, creation.path, body)]),
    ...(change === undefined || changes === undefined || fillId(change.path, id) === undefined
      ? []
      : [write(`Change ${withArticle(singular)}`, change, fillId(change.path, id)!, changes)]),
  ]
}

/** Keeps the token in `$TOKEN` for other commands. */
export function writeLogIn({ logIn }: PageApi, names: readonly [string, string] | undefined, address: PageAddress): string | undefined {
  if (logIn === undefined || names === undefined) return undefined
  // The sample's credentials; other users are unknown. Line breaks avoid scrolling.
  const command = writeCurl(logIn, logIn.path, address, { [names[0]]: 'ann@example.com', [names[1]]: 'sample' }, ' \\\n  ')
  return `TOKEN=$(${command.replace('curl', 'curl -s')} |\n  sed 's/.*"auth_token":"\\([^"]*\\)".*/\\1/')`
}

/** A filter, an order and a relation, from different resources if possible. */
export function findFirstRequests({ resources }: PageApi, address: PageAddress): ShownRequest[] {
  const all = resources.map(resource => listRequests(resource, address))
  const used = new Set<readonly ShownRequest[]>()
  const found = (['filter', 'sort', 'expand'] as const).flatMap(kind => {
    const has = (requests: readonly ShownRequest[]): boolean => requests.some(request => request.kind === kind)
    const chosen = all.find(requests => !used.has(requests) && has(requests)) ?? all.find(has)
    if (chosen === undefined) return []
    used.add(chosen)
    return chosen.find(request => request.kind === kind)!
  })
  return found.length === 0 ? all.flat().slice(0, 1) : found
}

function fillId(path: string, id: string | undefined): string | undefined {
  if (!path.includes('{id}')) return path
  return id === undefined ? undefined : path.replace('{id}', encodeURIComponent(id))
}

interface ReadingRequest {
  readonly kind: ShownRequest['kind']
  readonly title: string
  readonly query: string
}

function listReadings({ name, attributes, example, parameters }: PageResource, { summary }: PageOperation): ReadingRequest[] {
  const { limit, sort, expand } = parameters
  const page = limit === undefined ? '' : `${limit}=5`
  const key = attributes.find(({ isKey, operators }) => isKey && operators.length > 0)
  const sorted = attributes.find(attribute => !attribute.isKey && !attribute.isRelation && isShort(example?.[attribute.name])) ?? key
  const text = attributes.find(
    ({ name: own, isKey, type, operators }) => !isKey && type === 'text' && operators.includes('=') && isWord(example?.[own]),
  )
  const initial = text === undefined ? '' : String(example![text.name]).charAt(0)
  const relation =
    attributes.find(({ isRelation, type }) => isRelation && !type.endsWith('[]')) ?? attributes.find(({ isRelation }) => isRelation)
  const query = (...parts: readonly (string | undefined)[]): string => {
    const given = parts.filter(part => part !== undefined && part !== '')
    return given.length === 0 ? '' : `?${given.join('&')}`
  }
  return [
    { kind: 'page', title: summary, query: query(page) },
    ...(text === undefined
      ? []
      : [
          {
            kind: 'filter' as const,
            title: `${titled(name)} whose ${text.name} begins with ${initial}`,
            query: query(`${encodeName(text.name)}=${initial}*`, page),
          },
        ]),
    ...(sort === undefined || sorted === undefined
      ? []
      : [
          {
            kind: 'sort' as const,
            title: titleOfSort(name, sorted),
            query: query(`${sort}=${encodeName(sorted.name)}.desc`, page),
          },
        ]),
    ...(expand === undefined || relation === undefined
      ? []
      : [
          {
            kind: 'expand' as const,
            title: `${titled(name)} with ${relation.name} as ${relation.type.endsWith('[]') ? 'records' : 'a record'}`,
            query: query(`${expand}=${encodeName(relation.name)}`, page),
          },
        ]),
  ]
}

/** `user_groups` becomes `User groups`. */
function titled(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1).replaceAll('_', ' ')
}

/** `Categories, Z to A` or `Users by age, largest first`. */
function titleOfSort(name: string, { name: own, type }: PageResource['attributes'][number]): string {
  const title = titled(name)
  if (type !== 'text') return `${title} by ${own}, ${/date|time/.test(type) ? 'latest' : 'largest'} first`
  return own === 'name' || own === 'title' ? `${title}, Z to A` : `${title} by ${own}, Z to A`
}

function encodeName(name: string): string {
  return encodeURIComponent(name)
}

function isWord(value: unknown): boolean {
  return typeof value === 'string' && /^[A-Za-z0-9]/.test(value)
}

function isShort(value: unknown): boolean {
  return typeof value === 'number' || (typeof value === 'string' && value.length < 60)
}

function writeCurl(
  { method, takesToken }: PageOperation,
  path: string,
  { origin, base }: PageAddress,
  body?: object,
  between = ' ',
): string {
  const parts = [
    'curl',
    ...(method === 'GET' ? [] : [`-X ${method}`]),
    ...(takesToken ? ['-H "Authorization: Bearer $TOKEN"'] : []),
    ...(body === undefined ? [] : [`-H 'Content-Type: application/json'`, `-d ${quoteShell(JSON.stringify(body))}`]),
    quoteShell(origin + base + path),
  ]
  return parts.join(between).replace(/^curl \\\n +/, 'curl ')
}

function placeInConsole({ method }: PageOperation, path: string, { base }: PageAddress, body?: object): string {
  const more = body === undefined ? '' : `/-/${encodeURIComponent(JSON.stringify(body, undefined, 2))}`
  return `#/console/${method}${more}?${(base + path).replaceAll('#', '%23')}`
}

/** For a POSIX shell. */
function quoteShell(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
