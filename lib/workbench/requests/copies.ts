/** Writes a request as a command, code or test to copy. Copies for HTTP run unchanged; others need a variable `engine`. */
import type { OutlinedResource } from '../../description/outline/outline-parts.ts'
import type { Change } from '../../engine/journal/changes.ts'
import type { FaultState } from '../../engine/testing/fault-handle.ts'
import { encodeSoftly } from '../state/place-text.ts'
import { code, inlineCode, quote } from '../state/code.ts'

export interface CopiedRequest {
  readonly method: string
  readonly path: string
  /** Names with operator, and values. */
  readonly query: readonly (readonly [string, string])[]
  readonly body?: unknown
  readonly user?: string | undefined
  readonly status?: number | undefined
  readonly response?: unknown
  readonly changes?: readonly Change[] | undefined
  readonly met?: FaultState | undefined
  readonly frozen?: string | undefined
}

export interface CopyTarget {
  /** Such as `http://127.0.0.1:3000`. */
  readonly origin: string
  readonly base: string
  readonly root: string
  /** Empty: paths have no version. */
  readonly version: string
  readonly resources: readonly OutlinedResource[]
  /** Empty: the engine's own world. */
  readonly world: string
  readonly token?: string | undefined
}

export function writeTarget({ path, query }: Pick<CopiedRequest, 'path' | 'query'>): string {
  return query.length === 0 ? path : `${path}?${query.map(writePair).join('&')}`
}

/** A name ends in an operator (`age>=`), except `=`. */
function writePair([name, value]: readonly [string, string]): string {
  const [, own = '', operator = '='] = /^(.*?)([<>]=?|[~!]=|=)?$/s.exec(name) ?? []
  // After `<` or `>`, a leading `=` of the value would become part of the operator.
  const text = /[<>]$/.test(operator) && value.startsWith('=') ? `\\${value}` : value
  return `${encodeSoftly(own).replaceAll('%7C', '|')}${operator}${encodeSoftly(text)}`
}

export function asCurl(request: CopiedRequest, target: CopyTarget): string {
  const { method, body } = request
  const headers = Object.entries(headersOf(request, target)).map(([name, value]) => `-H ${shell(`${name}: ${value}`)}`)
  const parts = [
    method === 'GET' ? 'curl' : `curl -X ${method}`,
    shell(target.origin + writeTarget(request)),
    ...headers,
    ...(body === undefined ? [] : [`-d ${shell(JSON.stringify(body))}`]),
  ]
  return parts.join(parts.join(' ').length > 110 ? ' \\\n  ' : ' ')
}

function shell(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** Runs in browsers and Node. */
export function asFetch(request: CopiedRequest, target: CopyTarget): string {
  const { method, body } = request
  const headers = headersOf(request, target)
  const init = [
    ...(method === 'GET' ? [] : [`method: ${quote(method)}`]),
    ...(Object.keys(headers).length === 0 ? [] : [`headers: ${inlineCode(headers)}`]),
    ...(body === undefined ? [] : [`body: JSON.stringify(${code(body, 2)})`]),
  ]
  const url = quote(target.origin + writeTarget(request))
  const options = init.length === 0 ? '' : `, {\n${init.map(line => `  ${line},\n`).join('')}}`
  return `const response = await fetch(${url}${options})\nconsole.log(response.status, await response.json())\n`
}

export function asHandle(request: CopiedRequest): string {
  return `const { status, body } = await ${handleCall(request)}\n`
}

export function asClient(request: CopiedRequest, target: CopyTarget): string | undefined {
  const call = clientCall(request, target)
  if (call === undefined) return undefined
  const options = [
    ...(target.version === 'v1' ? [] : [`version: ${target.version === '' ? 'null' : quote(target.version)}`]),
    ...(request.user === undefined || target.token === undefined ? [] : [`token: ${quote(target.token)}`]),
    ...(target.world === '' ? [] : [`headers: ${inlineCode({ 'x-world': target.world })}`]),
  ]
  const more = options.length === 0 ? '' : `, undefined, { ${options.join(', ')} }`
  return `import { client } from 'mikro-rest/client'\n\nconst api = client(${quote(target.origin + target.base)}${more})\n${call}\n`
}

interface Wording {
  readonly head: string
  readonly equal: (what: string, value: string) => string
  readonly partly: (what: string, value: string) => string
  readonly rejects: (call: string, value: string) => string
}

const expecting = (from: string): Wording => ({
  head: `import { expect, test } from '${from}'\n`,
  equal: (what, value) => `expect(${what}).toBe(${value})`,
  partly: (what, value) => `expect(${what}).toMatchObject(${value})`,
  rejects: (call, value) => `await expect(${call}).rejects.toMatchObject(${value})`,
})

const WORDINGS = {
  'node:test': {
    head: `import assert from 'node:assert/strict'\nimport { test } from 'node:test'\n`,
    equal: (what, value) => `assert.equal(${what}, ${value})`,
    partly: (what, value) => `assert.partialDeepStrictEqual(${what}, ${value})`,
    rejects: (call, value) => `await assert.rejects(${call}, ${value})`,
  },
  Vitest: expecting('vitest'),
  Playwright: expecting('@playwright/test'),
} as const satisfies Record<string, Wording>

export const RUNNERS = Object.keys(WORDINGS) as (keyof typeof WORDINGS)[]

/** Needs an `engine` with the data from before the request. */
export function asTest(request: CopiedRequest, runner: keyof typeof WORDINGS = 'node:test'): string {
  const { method, path, status, changes, frozen } = request
  const wording: Wording = WORDINGS[runner]
  const checks = bodyChecks(request, wording)
  const expected = changes === undefined ? undefined : expectedOf(changes)
  const call =
    expected === undefined
      ? `await ${handleCall(request, 2)}`
      : `await engine.expect(${expected}, () =>\n    ${handleCall(request, 4)},\n  )`
  const lines = [
    ...(frozen === undefined ? [] : [`engine.clock.set(${quote(frozen)})`]),
    ...(request.met === undefined ? [] : [`const fault = ${writeFault(request.met)}`]),
    ...(status === undefined
      ? [wording.rejects(handleCall(request, 2), `{ code: 'ECONNRESET' }`)]
      : [`const { status${checks.length === 0 ? '' : ', body'} } = ${call}`, wording.equal('status', String(status)), ...checks]),
    ...(request.met === undefined ? [] : ['fault.dispose()']),
    ...(frozen === undefined ? [] : ['engine.clock.reset()']),
  ]
  const name = `${method} ${path} ${status === undefined ? 'loses its connection' : `is answered with ${status}`}`
  return `${wording.head}\ntest(${quote(name)}, async () => {\n${lines.map(line => `  ${line}\n`).join('')}})\n`
}

export function writeFault({ kind, match, options }: Pick<FaultState, 'kind' | 'match' | 'options'>): string {
  const { ms, ...others } = options
  const args = [
    quote(match),
    ...(ms === undefined ? [] : [JSON.stringify(ms)]),
    ...(Object.keys(others).length === 0 ? [] : [inlineCode(others)]),
  ]
  return `engine.${kind}(${args.join(', ')})`
}

function headersOf({ body, user }: CopiedRequest, { world, token }: CopyTarget): Record<string, string> {
  return {
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(user === undefined || token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(world === '' ? {} : { 'x-world': world }),
  }
}

function handleCall(request: CopiedRequest, indent = 0): string {
  const { method, body, user } = request
  const headers = user === undefined ? [] : [`{ headers: { authorization: \`Bearer \${engine.token(${quote(user)})}\` } }`]
  const more =
    body === undefined && headers.length === 0 ? [] : ['undefined', body === undefined ? 'undefined' : code(body, indent), ...headers]
  return `engine.handle(${[quote(method), quote(writeTarget(request)), ...more].join(', ')})`
}

function clientCall({ method, path, query, body }: CopiedRequest, { root, resources }: CopyTarget): string | undefined {
  const [name = '', id, attribute, ...others] = path.startsWith(`${root}/`)
    ? path
        .slice(root.length + 1)
        .split('/')
        .map(decodeURIComponent)
    : []
  const resource = resources.find(each => each.name === name)
  if (resource === undefined || others.length > 0) return undefined
  const api = /^[a-zA-Z_]\w*$/.test(name) ? `api.${name}` : `api[${quote(name)}]`
  const options = query.length === 0 ? [] : [queryCode(query)]
  const call = (result: string, member: string, ...args: readonly string[]): string =>
    `${result === '' ? '' : `const ${result} = `}await ${api}.${member}(${[...args, ...options].join(', ')})`
  const kind = `${method} ${[id, attribute].filter(part => part !== undefined).length}`
  const key = id === undefined ? '' : idCode(id, resource)
  switch (kind) {
    case 'GET 0':
      return call('{ items, count }', 'list')
    case 'GET 1':
      return call('record', 'get', key)
    case 'POST 0':
      return Array.isArray(body) ? undefined : call('record', 'create', code(body))
    case 'PATCH 1':
    case 'PUT 1':
      return call('record', 'update', key, code(body))
    case 'DELETE 1':
      return call('record', 'delete', key)
    case 'GET 2':
      return resource.attributes.find(each => each.name === attribute)?.kind === 'toMany'
        ? `const { items, count } = await ${api}.related(${key}, ${quote(attribute!)}).list(${options.join('')})`
        : call('value', 'getAttribute', key, quote(attribute!))
    case 'PUT 2':
    case 'PATCH 2':
      return call('record', 'setAttribute', key, quote(attribute!), code(body))
    default:
      return undefined
  }
}

function idCode(id: string, { key, attributes }: OutlinedResource): string {
  const [first] = key
  const type = key.length === 1 ? attributes.find(({ name }) => name === first)?.type : undefined
  return type === 'integer' && /^-?\d{1,15}$/.test(id) ? id : quote(id)
}

/** Into `$`, with unchecked names. */
function queryCode(query: readonly (readonly [string, string])[]): string {
  const free: Record<string, unknown> = {}
  for (const [name, value] of query) {
    const before = free[name]
    free[name] = before === undefined ? value : [before, value].flat()
  }
  return inlineCode({ $: free })
}

function expectedOf(changes: readonly Change[]): string {
  const numbers: Record<string, Record<string, number>> = {}
  const words = { insert: 'inserted', update: 'updated', delete: 'deleted' } as const
  for (const { resource, type } of changes) {
    const counts = (numbers[resource] ??= {})
    counts[words[type]] = (counts[words[type]] ?? 0) + 1
  }
  return inlineCode({ ...numbers, '*': {} })
}

/** Only stable parts: a refusal's code, a list's count, and values of the request's body. */
function bodyChecks({ status = 0, body, response }: CopiedRequest, { equal, partly }: Wording): string[] {
  if (typeof response !== 'object' || response === null) return []
  const { code: refusal, count, resource } = response as Readonly<Record<string, unknown>>
  if (status >= 400) return typeof refusal === 'string' ? [equal('body.code', quote(refusal))] : []
  if (typeof count === 'number') return [equal('body.count', String(count))]
  const record = typeof resource === 'string' ? (response as Readonly<Record<string, unknown>>)[resource] : undefined
  if (typeof body !== 'object' || body === null || typeof record !== 'object' || record === null) return []
  const same = Object.entries(body).filter(
    ([name, value]) => isPlain(value) && (record as Readonly<Record<string, unknown>>)[name] === value,
  )
  return same.length === 0 ? [] : [partly('body[body.resource]', inlineCode(Object.fromEntries(same)))]
}

function isPlain(value: unknown): boolean {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value)
}
