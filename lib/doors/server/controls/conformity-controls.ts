/** Conformity controls: compare an answer with the OpenAPI document. Refuses with body_invalid. */
import { checkNames } from '../../../foundation/base/suggest.ts'
import { isObject } from '../../../foundation/json/json.ts'
import { NO_VERSION, formatRoot, listVersions } from '../../../records/request/address.ts'
import { blameBody, control, invalid, readObject, type Control, type ControlRequest } from './control.ts'

export function conformityControls(): Control[] {
  return [
    control(
      'POST /conformity',
      'what of an answer is not as the OpenAPI document says: ' +
        '{ "method": "GET", "path": "/v1/users", "status": 200, "headers": { ... }, "body": ... }',
      checkConformity,
    ),
  ]
}

async function checkConformity({ world, body: sent, base }: ControlRequest): Promise<object> {
  const {
    method,
    path,
    status,
    headers = {},
    body,
    ...others
  } = readObject(sent, '{ "method": "GET", "path": "/v1/users", "status": 200 }')
  blameBody(() => checkNames(others, [], 'the body'))
  if (typeof method !== 'string' || typeof path !== 'string') throw invalid('"method" and "path" must be strings: "GET", "/v1/users".')
  if (!Number.isSafeInteger(status)) throw invalid('"status" must be the number of the status.')
  if (!isObject(headers) || !Object.values(headers).every(value => typeof value === 'string'))
    throw invalid('"headers" must be an object of strings.')
  // Paths in the document have no base.
  const [whole = '', query = ''] = path.split(/\?(.*)/s, 2)
  const plain = base !== '' && whole.startsWith(`${base}/`) ? whole.slice(base.length) : whole
  const versions = listVersions(world.engine.versions)
  const isBelow = (root: string): boolean => plain === root || plain.startsWith(`${root}/`)
  const version = versions.find(name => isBelow(formatRoot('', name))) ?? versions[0] ?? NO_VERSION
  const { Conformity } = await import('../../../description/conformity/conformity.ts')
  const conformity = new Conformity(await world.internals.describe({ version }, false, base))
  const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value as string]))
  const { engine } = world
  return {
    described: conformity.knows(plain),
    // With `attributes` or `depth`, the answer may leave out members.
    faults: await engine.conforms({ method, path: engine.base + plain, query }, { status: status as number, headers: lower, body }),
  }
}
