/** Check the parameters: which of them a path and method take. Refuses the others with parameter_invalid. */
import { refuseParameter } from './errors.ts'
import type { Request } from './parse.ts'
import { NO_PARAMETERS, RESERVED, parseParameters } from './parse-query.ts'
import type { Pair, Parameters, Vocabulary } from './parse-query.ts'
import type { Target } from './resolve.ts'
import { hint, nearest } from './suggest.ts'

const RECORD_PARAMETERS: readonly string[] = ['depth', 'attributes', 'expand']

/** The reserved parameters that an operation takes, and whether it takes filters. */
interface Taken {
  readonly reserved: readonly string[]
  readonly filters: boolean
  readonly what: string
}

function takenBy(method: string, target: Target): Taken {
  if (target.kind === 'index') return { reserved: [], filters: false, what: 'The index' }
  const isList = target.kind === 'collection' || (target.kind === 'attribute' && target.attribute.kind === 'toMany')
  if (method === 'GET' || method === 'HEAD') {
    if (isList) return { reserved: RESERVED, filters: true, what: 'A list' }
    if (target.kind === 'attribute' && target.attribute.kind !== 'toOne') return { reserved: [], filters: false, what: 'A plain attribute' }
  }
  if (method === 'DELETE' && isList) return { reserved: RECORD_PARAMETERS, filters: true, what: 'The deletion of a list' }
  return { reserved: RECORD_PARAMETERS, filters: false, what: 'One record' }
}

function checkParameters(pairs: readonly Pair[], method: string, target: Target, vocabulary: Vocabulary): void {
  if (pairs.length === 0) return
  const { reserved, filters, what } = takenBy(method, target)
  const names = [...vocabulary.reserved].flatMap(([name, meant]) => (reserved.includes(meant) ? [name] : []))
  const known = [...names, ...(target.kind === 'index' ? [] : vocabulary.flags), ...(filters ? vocabulary.own : [])]
  for (const { name, operator } of pairs) {
    if (operator === '' && vocabulary.names.has(name) ? known.includes(name) : filters) continue
    const parameter = name + operator
    const suggestion = operator === '' && vocabulary.names.has(name) ? undefined : nearest(name, known)
    const takes = known.length === 0 ? 'no parameters' : known.join(', ')
    throw refuseParameter({
      code: 'parameter_not_allowed',
      detail: `${what} takes ${takes}${filters ? ' and filters' : ''}, not "${parameter.slice(0, 100)}".${hint(suggestion)}`,
      parameter,
      allowed: known,
      ...(suggestion === undefined ? {} : { suggestion }),
    })
  }
}

/** The parameters of a request, parsed and known to be taken here. OPTIONS takes any, and heeds none. */
export function parametersOf(request: Request, target: Target, vocabulary: Vocabulary): Parameters {
  if (request.method === 'OPTIONS') return NO_PARAMETERS
  checkParameters(request.pairs, request.method, target, vocabulary)
  return parseParameters(request.pairs, vocabulary)
}
