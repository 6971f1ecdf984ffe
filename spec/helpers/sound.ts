/** Checks that an answer is allowed by the contract for any request: its status, its headers, and the one shape of every error. */
import assert from 'node:assert/strict'
import type { RestEngine } from '../../lib/index.ts'

type Response = Awaited<ReturnType<RestEngine['handle']>>
type Body = Record<string, unknown>

const ERROR_KEYS = new Set(['success', 'timestamp', 'status', 'code', 'title', 'detail', 'errors'])
const FAULT_KEYS = new Set(['code', 'detail', 'attribute', 'parameter', 'value', 'allowed', 'suggestion'])
const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
const isCode = (value: unknown): boolean => isText(value) && /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(value)
/** ISO 8601 in UTC with milliseconds. */
const isTimestamp = (value: unknown): boolean => isText(value) && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value)

/** Fails when an answer is not one that contract sections 1, 3 and 6 allow. */
export function assertSound(response: Response, request: unknown): void {
  const told = `${JSON.stringify(request)} answered ${JSON.stringify(response)}`
  assert.ok((response.status >= 200 && response.status < 300) || (response.status >= 400 && response.status < 500), told)
  for (const name of Object.keys(response.headers)) assert.equal(name, name.toLowerCase(), told)
  if (response.body === undefined || response.body === null) return
  assert.deepEqual(JSON.parse(JSON.stringify(response.body)), response.body, told)
  assert.equal(response.headers['content-type'], 'application/json; charset=UTF-8', told)
  const body = response.body as Body
  assert.ok(isTimestamp(body['timestamp']), told)
  if (response.status < 400) {
    assert.equal(body['success'], true, told)
    return
  }
  assert.equal(body['success'], false, told)
  assert.equal(body['status'], response.status, told)
  assert.ok(isCode(body['code']) && isText(body['title']) && isText(body['detail']), told)
  for (const name of Object.keys(body)) assert.ok(ERROR_KEYS.has(name), `${name} in ${told}`)
  if (body['errors'] === undefined) return
  assert.ok(Array.isArray(body['errors']) && body['errors'].length > 0, told)
  for (const fault of body['errors'] as Body[]) {
    assert.ok(isCode(fault['code']) && isText(fault['detail']), told)
    // An empty name can be at fault too.
    assert.ok((typeof fault['attribute'] === 'string') !== (typeof fault['parameter'] === 'string'), told)
    for (const name of Object.keys(fault)) assert.ok(FAULT_KEYS.has(name), `${name} in ${told}`)
  }
}
