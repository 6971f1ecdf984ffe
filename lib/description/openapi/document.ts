/** Describes a version of the API in OpenAPI. The same model gives the same document. */
import { isObject } from '../../foundation/json/json.ts'
import type { Resource } from '../../model/model.ts'
import { Answers } from './answers.ts'
import { BodySchemas } from './body-schemas.ts'
import { Components } from './components.ts'
import { generalOperations, routeOperations, type PlacedOperation } from './extra-operations.ts'
import { Failures } from './failures.ts'
import { Operations } from './operations.ts'
import { sessionOperations } from './session-operations.ts'
import { ParameterSchemas } from './parameters.ts'
import { RecordSchemas, withIds } from './record-schemas.ts'
import type { Schema } from './schema.ts'
import { NO_VERSION, formatRoot } from '../../records/request/address.ts'
import { describedVisibility, findSegment, listSecurity, type ApiSource, type DescribeOptions } from './source.ts'
import { isNamable } from '../../records/plan/visibility.ts'
import type { OpenApiDocument } from './openapi-document.ts'
import { findParameterName } from '../../records/request/query-string.ts'
import { RESERVED } from '../../records/request/reserved-parameters.ts'

/** OpenAPI requires `info.version`. */
const UNVERSIONED = '1'
const VERSIONS = { '3.1': '3.1.1', '3.2': '3.2.0' }

export function describeApi(source: ApiSource, options: DescribeOptions): OpenApiDocument {
  const components = new Components()
  const document = { source, options, visibility: describedVisibility(source.model), components }
  const records = new RecordSchemas(document)
  const answers = new Answers(document, records)
  const bodies = new BodySchemas(document)
  const parameters = new ParameterSchemas(document)
  const operations = new Operations({ ...document, parameters, bodies, answers, failures: new Failures(document) })
  const root = formatRoot('', source.version)
  const paths = new Paths()
  const named = source.model.resources.flatMap(resource => {
    const name = isNamable(resource) ? findSegment(resource, source) : undefined
    return name === undefined ? [] : [{ resource, path: `${root}/${encodeURIComponent(name)}` }]
  })
  const place = ({ method, path, parts, parameters: own }: PlacedOperation): void => {
    paths.add(path, {
      ...(own === undefined || own.length === 0 ? {} : { parameters: own }),
      [method.toLowerCase()]: operations.finish(method, path, parts),
    })
  }
  generalOperations(root, source, answers).forEach(place)
  const sessions = sessionOperations(root, { source, options, answers, bodies, parameters, records })
  // If the log-in and a resource share a path, the later operations win: those of the log-in.
  const isOfResource = ({ path }: PlacedOperation): boolean => named.some(each => each.path === path)
  sessions.filter(each => !isOfResource(each)).forEach(place)
  // Links name the operations of resources, so resources come first.
  for (const { resource, path } of named) {
    const own = recordPath(path, resource)
    if (own !== path) paths.add(path, operations.collection(path, resource))
    if (resource.key.length > 0) paths.add(own, operations.record(own, resource))
  }
  for (const { resource, path } of named.filter(each => each.resource.key.length > 0)) {
    for (const [own, item] of operations.attributes(recordPath(path, resource), resource, withIds(resource))) paths.add(own, item)
    for (const [own, item] of operations.marks(recordPath(path, resource), resource)) paths.add(own, item)
  }
  sessions.filter(isOfResource).forEach(place)
  routeOperations(source).forEach(place)
  return {
    openapi: VERSIONS[options.openapi],
    info: describeInfo(source, options, named.length),
    servers: [{ url: source.base === '' ? '/' : source.base, description: 'The server of this document.' }],
    security: source.login === undefined ? [] : listSecurity(source.login),
    tags: listTags(named, source, paths.all),
    paths: paths.all,
    components: { ...components.sections, ...securitySchemes(source) },
  }
}

function describeInfo(source: ApiSource, options: DescribeOptions, resources: number): Readonly<Record<string, unknown>> {
  const { title } = options
  return {
    title,
    version: source.version === NO_VERSION ? UNVERSIONED : source.version,
    ...(options.brief ? {} : { summary: `${resources} resources, described from their model.` }),
    description: describeGrammar(source, options),
    ...(options.brief ? {} : { contact: { name: title } }),
  }
}

/** OpenAPI treats `/users/{id}` and a custom route `/users/{name}` as the same path. */
class Paths {
  readonly #items = new Map<string, { path: string; item: Schema }>()

  add(path: string, item: Schema): void {
    if (Object.keys(item).length === 0) return
    const template = path.replaceAll(/\{[^}]*\}/g, '{}')
    const known = this.#items.get(template)
    this.#items.set(
      template,
      known === undefined ? { path, item } : { path: known.path, item: { ...item, ...known.item, ...withoutParameters(item) } },
    )
  }

  get all(): Readonly<Record<string, Schema>> {
    return Object.fromEntries([...this.#items.values()].map(({ path, item }) => [path, item]))
  }
}

function withoutParameters(item: Schema): Schema {
  return Object.fromEntries(Object.entries(item).filter(([member]) => member !== 'parameters'))
}

/** A resource with the rule `single` has no `/{id}`. */
function recordPath(path: string, { rules }: Resource): string {
  return rules.single === undefined ? `${path}/{id}` : path
}

function listTags(
  named: readonly { readonly resource: Resource }[],
  { login }: ApiSource,
  paths: Readonly<Record<string, Schema>>,
): readonly Schema[] {
  const isUsed = Object.values(paths).some(item => Object.values(item).some(isOfRoutes))
  return [
    { name: 'general', description: 'The index, and this description.' },
    ...(login === undefined ? [] : [{ name: 'session', description: 'Log-in and log-out.' }]),
    ...named.map(({ resource }) => ({
      name: resource.plural,
      description: `Records of ${resource.className}${resource.readOnly ? ', which are read-only' : ''}.`,
    })),
    ...(isUsed ? [{ name: 'routes', description: 'Routes of the application.' }] : []),
  ]
}

function isOfRoutes(member: unknown): boolean {
  return isObject(member) && Array.isArray(member.tags) && member.tags.includes('routes')
}

function describeCookie(name: string): Schema {
  return {
    type: 'apiKey',
    in: 'cookie',
    name,
    description: 'The cookie that a log-in sets. What writes by it must come from a page of the server.',
  }
}

function securitySchemes({ login }: ApiSource): Schema {
  if (login === undefined) return {}
  const { answers, scheme, cookie } = login
  const token = answers ? 'The `auth_token` that the log-in answers with.' : 'The token that the log-in answers with.'
  const also = scheme === undefined ? '' : ` \`${scheme}\` may stand for \`Bearer\`.`
  return {
    securitySchemes: {
      bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: token + also },
      ...(cookie === undefined ? {} : { cookie: describeCookie(cookie) }),
    },
  }
}

/** As Markdown for `info.description`. */
function describeGrammar(
  { vocabulary, limits, login, readOnly, hasWire }: ApiSource,
  { attributes, brief, filters }: DescribeOptions,
): string {
  const called = (name: 'limit' | 'offset' | 'page' | 'sort'): string => `\`${findParameterName(vocabulary, name)}\``
  const reading = 'HEAD answers like GET, without a body; OPTIONS answers with `Allow`.'
  return [
    hasWire ? OWN_GRAMMAR : '',
    readOnly ? `Nothing can be written here. ${reading}` : `PATCH does what PUT does, at every path. ${reading}`,
    login === undefined
      ? ''
      : 'Every request needs a token, unless its operation says otherwise: log in, and send it as `Authorization: Bearer`.',
    attributes || brief || readOnly ? '' : describeOperations(),
    brief ? 'Paths below a record take the parameters of their resource, too: those not named here.' : '',
    attributes || brief
      ? ''
      : 'What any request may be refused with is the answer `default`: 400, 401, 413, 415, 500, 503 and what the application says.',
    '## Lists',
    `A list is paged by ${called('limit')} ` +
      `and ${called('offset')}${vocabulary.reserved.size > RESERVED.length ? ` or ${called('page')}` : ''}, ` +
      `and sorted by ${called('sort')}; the key is always the last key of the order.`,
    '## Filters',
    filters.ofRelations || filters.hops === undefined
      ? ''
      : `The list of a relation takes the filters of the list of its resource${readOnly ? '' : ', and so does its DELETE'}.`,
    [
      'Every parameter that is not reserved is a filter: `[!]path[|path...]operator value`. ' +
        'The parameters of lists are named without the `=` that ends their operator:',
      'the parameter `age>` with the value 18 is sent as `age>=18`, `name!` as `name!=Ann`, `name~` as `name~=ann`.',
    ].join(' '),
    [
      '- `=` is equal, or any of a comma-separated list; for strings `*` is any text; `null` is NULL.',
      '- `!=` is the complement of `=`; so is a `!` before the name, with any operator.',
      '- `~=` is `=` without regard to case, `~~=` to case and accents, for strings. The path `*` is any text: `*~=*ann*`.',
      `- \`>=\` and \`<=\` compare with one value.${brief ? '' : STRICTLY}`,
      '- Dots walk relations and embedded objects: `publisher.name`. A relation is compared with IDs.',
      '- A list meets a filter when one record does.',
      '- `name|email` holds where one path does. Several filters narrow together.',
      '- In `(role=admin|age>=18;name=A*)` `|` is or, and `;` is and. `skills(level=1;kind=go)`: one related record meets all.',
      '- A backslash makes the next character literal.',
      '- An attribute that bears the name of another parameter is filtered with an underscore behind it: ' +
        `\`${findParameterName(vocabulary, 'limit')}_\`.`,
    ].join('\n'),
    `At most ${limits.maxFilters} filters, with paths of at most ${limits.maxPathRelations} relations; ` +
      'what is unknown is refused with a hint.',
  ]
    .filter(text => text !== '')
    .join('\n\n')
}

const OWN_GRAMMAR =
  'Clients of this server speak another grammar, by the option `wire`: this page describes that of the engine, in which ' +
  '`engine.handle` and `engine.send` ask.'

const STRICTLY =
  ' Strictly more is `age>18`, which has no `=` and so cannot be a parameter here: `!age<` with the value 18 is the same, but for NULL.'

/** Repeated at each operation with `attributes: true`. */
function describeOperations(): string {
  return [
    '- A change gives some attributes; the others stay as they are.',
    '- In a body a relation takes IDs, which link, and objects, which make records of their own in the same transaction.',
    '- A PUT of an attribute or a relation answers with the record that it belongs to.',
    '- DELETE of a relation to one record deletes that record and the reference to it; ' +
      'DELETE of a list deletes the related records that meet the filters, all of them without filters.',
    '- GET of a list with `Accept: text/csv` or `application/x-ndjson` answers with the records of all pages as text.',
  ].join('\n')
}
