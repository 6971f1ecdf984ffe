/** Check the parameters: which of them a path and method take. Refuses the others with parameter_invalid. */
import { refuseParameter } from './errors.ts'
import { isValue } from './model.ts'
import type { Request } from './parse.ts'
import { NO_PARAMETERS, RESERVED, parseParameters } from './parse-query.ts'
import type { Pair, Parameters, Reserved, Vocabulary } from './parse-query.ts'
import type { Target } from './resolve.ts'
import { hint, nearest } from './suggest.ts'

const RECORD_PARAMETERS: readonly Reserved[] = ['depth', 'attributes', 'expand']

/** The reserved parameters that an operation takes, and whether it takes filters. */
interface Taken {
  readonly reserved: readonly Reserved[]
  readonly filters: boolean
  readonly what: string
}

const BY_INDEX: Taken = { reserved: [], filters: false, what: 'The index' }
const BY_LIST: Taken = { reserved: RESERVED, filters: true, what: 'A list' }
const BY_PLAIN: Taken = { reserved: [], filters: false, what: 'A plain attribute' }
const BY_DELETION: Taken = { reserved: RECORD_PARAMETERS, filters: true, what: 'The deletion of a list' }
const BY_RECORD: Taken = { reserved: RECORD_PARAMETERS, filters: false, what: 'One record' }

function takenBy(method: string, target: Target): Taken {
  if (target.kind === 'index') return BY_INDEX
  const isList = target.kind === 'collection' || (target.kind === 'attribute' && target.attribute.kind === 'toMany')
  if (method === 'GET' || method === 'HEAD') {
    if (isList) return BY_LIST
    if (target.kind === 'attribute' && isValue(target.attribute)) return BY_PLAIN
  }
  return method === 'DELETE' && isList ? BY_DELETION : BY_RECORD
}

function checkParameters(pairs: readonly Pair[], method: string, target: Target, vocabulary: Vocabulary): void {
  if (pairs.length === 0) return
  const taken = takenBy(method, target)
  for (const pair of pairs) if (!isTaken(pair, taken, target, vocabulary)) throw notTaken(pair, taken, target, vocabulary)
}

function isTaken({ name, operator }: Pair, { reserved, filters }: Taken, target: Target, vocabulary: Vocabulary): boolean {
  const meant = operator === '' ? vocabulary.reserved.get(name) : undefined
  if (meant !== undefined) return reserved.includes(meant)
  return filters || (operator === '' && vocabulary.flags.has(name) && target.kind !== 'index')
}

function notTaken({ name, operator }: Pair, { reserved, filters, what }: Taken, target: Target, vocabulary: Vocabulary) {
  const names = [...vocabulary.reserved].flatMap(([called, meant]) => (reserved.includes(meant) ? [called] : []))
  const known = [...names, ...(target.kind === 'index' ? [] : vocabulary.flags), ...(filters ? vocabulary.own : [])]
  const parameter = name + operator
  const suggestion = operator === '' && vocabulary.names.has(name) ? undefined : nearest(name, known)
  const takes = known.length === 0 ? 'no parameters' : known.join(', ')
  return refuseParameter({
    code: 'parameter_not_allowed',
    detail: `${what} takes ${takes}${filters ? ' and filters' : ''}, not "${parameter.slice(0, 100)}".${hint(suggestion)}`,
    parameter,
    allowed: known,
    ...(suggestion === undefined ? {} : { suggestion }),
  })
}

/** The parameters of a request, parsed and known to be taken here. OPTIONS takes any, and heeds none. */
export function parametersOf(request: Request, target: Target, vocabulary: Vocabulary): Parameters {
  if (request.method === 'OPTIONS') return NO_PARAMETERS
  checkParameters(request.pairs, request.method, target, vocabulary)
  return parseParameters(request.pairs, vocabulary)
}
