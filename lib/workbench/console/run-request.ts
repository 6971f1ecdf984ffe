/** Sends the console's request, checks the answer's conformity, and explains the request. */
import { control, sendAsUser, type Answer } from '../state/ask.ts'
import { dataChanged } from '../state/live.ts'
import { outline } from '../state/outline.ts'
import type { Explanation } from '../../engine/journal/explanation.ts'
import { isInGrammarOfWire, readHeaders, takesBody, type WrittenRequest } from './sent-request.ts'

interface ConformityReport {
  readonly described: boolean
  readonly faults: readonly string[]
}

export interface RequestOutcome {
  readonly request: WrittenRequest
  readonly answer: Answer
}

/** Sends even invalid JSON: the API reports the mistake. */
export async function runRequest(request: WrittenRequest): Promise<RequestOutcome> {
  const { method, target, headers, body } = request
  const grammar = isInGrammarOfWire(target, outline.value) ? { 'x-workbench': 'client' } : {}
  const options = { headers: { ...grammar, ...readHeaders(headers) }, ...(takesBody(method) && body.trim() !== '' ? { body } : {}) }
  const answer = await sendAsUser(method, target, options)
  if (!['GET', 'HEAD', 'OPTIONS'].includes(method)) dataChanged()
  return { request, answer }
}

/** Undefined for a write on a read-only server: the document lacks writes. */
export async function judge({
  request: { method, target },
  answer: { status, headers, body },
}: RequestOutcome): Promise<ConformityReport | undefined> {
  if (outline.value?.readOnly === true && !['GET', 'HEAD', 'OPTIONS'].includes(method)) return undefined
  const sent = {
    method,
    path: target,
    status,
    headers: Object.fromEntries(headers),
    ...(body === undefined ? {} : { body: body as unknown }),
  }
  return (await control('POST', '/conformity', sent)).body as ConformityReport
}

export async function explainRequest({ method, target, headers, body }: WrittenRequest): Promise<Explanation> {
  const [path = '', query = ''] = target.split(/\?(.*)/s, 2)
  const sent = takesBody(method) && body.trim() !== '' ? { body: JSON.parse(body) as unknown } : {}
  const answer = await control('POST', '/explain', {
    method,
    path,
    ...(query === '' ? {} : { query }),
    headers: readHeaders(headers),
    ...sent,
  })
  return answer.body as Explanation
}
