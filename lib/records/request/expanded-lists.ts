/** Reads `expand` with parameters, as in `posts(status=new;limit=3)`. Refuses with parameter_invalid. */
import { RestError, parameterError, restError } from '../../foundation/errors/errors.ts'
import { findParameterName, pairOfText, parseParameters, type ExpandedList, type Parameters, type Vocabulary } from './query-string.ts'
import type { Pair } from './raw-filter.ts'
import { splitOutside, type Reserved } from './reserved-parameters.ts'

const TAKEN: readonly Reserved[] = ['sort', 'limit', 'offset', 'attributes', 'expand']

/** Reads the parentheses of `expand`, with inner lists. */
export function readExpandedLists(parameters: Parameters, vocabulary: Vocabulary): Parameters {
  if (parameters.expand?.some(path => path.includes('(') || path.includes('\\')) !== true) return parameters
  const lists: ExpandedList[] = []
  return { ...parameters, expand: readPaths(parameters.expand, '', { lists, vocabulary }), lists }
}

interface FoundLists {
  readonly lists: ExpandedList[]
  readonly vocabulary: Vocabulary
}

function readPaths(written: readonly string[], prefix: string, found: FoundLists): string[] {
  return written.map(text => {
    const open = /(?<!\\)(?:\\\\)*\(/.exec(text)
    const path = prefix + unescape(open === null ? text : text.slice(0, open.index + open[0].length - 1))
    if (open !== null) readList(path, text.slice(open.index + open[0].length), text, found)
    return path
  })
}

function readList(path: string, rest: string, text: string, found: FoundLists): void {
  const { lists, vocabulary } = found
  const parameter = findParameterName(vocabulary, 'expand')
  if (!rest.endsWith(')') || splitOutside(`(${rest}`, ',', parameter).length > 1 || isOpenedTwice(rest)) {
    const detail = `"${text.slice(0, 100)}" goes on behind the parentheses: write inside, as in "posts(limit=3;expand=author)".`
    throw parameterError({ code: 'value_invalid', detail, parameter, value: text })
  }
  if (lists.some(list => list.path === path)) {
    const detail = `"${path}" has parentheses twice in "${parameter}": put all parameters of the list into one.`
    throw parameterError({ code: 'parameter_repeated', detail, parameter, value: text })
  }
  withinList({ path, parameter }, () => {
    const items = splitOutside(rest.slice(0, -1), ';', path).filter(item => item !== '')
    const counts = items.includes('count')
    const pairs = items.filter(item => item !== 'count').map(item => pairOfText(unescape(item)))
    for (const pair of pairs) checkTaken(pair, counts, vocabulary)
    const given = parseParameters(pairs, vocabulary)
    const at = lists.push({ path, parameter, counts, parameters: given }) - 1
    if (given.expand === undefined) return
    lists[at] = { ...lists[at]!, parameters: { ...given, expand: readPaths(given.expand, `${path}.`, found) } }
  })
}

/** Whether the list closes early: `posts(a)(b)`. */
function isOpenedTwice(rest: string): boolean {
  let depth = 1
  for (let at = 0; at < rest.length - 1; at++) {
    if (rest[at] === '\\') at++
    else if (rest[at] === '(') depth++
    else if (rest[at] === ')' && --depth === 0) return true
  }
  return false
}

/** Inner parentheses keep escapes, for the next level. */
function unescape(text: string): string {
  let depth = 0
  return text.replaceAll(/\\[^]|[()]/g, found => {
    if (found === '(') depth++
    else if (found === ')') depth--
    return depth === 0 && /^\\[;()]$/.test(found) ? found[1]! : found
  })
}

function checkTaken({ name, operator }: Pair, counts: boolean, vocabulary: Vocabulary): void {
  const meant = operator === '' ? vocabulary.reserved.get(name) : undefined
  const isOther = meant === undefined && operator === '' && vocabulary.names.has(name)
  if (!isOther && (meant === undefined || (!counts && TAKEN.includes(meant)))) return
  const allowed = counts ? [] : TAKEN.map(each => findParameterName(vocabulary, each))
  throw parameterError({
    code: 'parameter_not_allowed',
    detail: counts
      ? `A count takes filters alone, not "${name}".`
      : `A list in parentheses takes ${allowed.join(', ')} and filters; "${name}" stands outside, for the whole request.`,
    parameter: name,
    allowed,
  })
}

/** Errors of `work` name the list. */
export function withinList<T>(list: Pick<ExpandedList, 'path' | 'parameter'>, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw blameList(error, list)
  }
}

export function blameList(error: unknown, { path, parameter }: Pick<ExpandedList, 'path' | 'parameter'>): unknown {
  if (!(error instanceof RestError) || error.code !== 'parameter_invalid' || error.message.startsWith('In "')) return error
  const detail = `In "${path}(...)": ${error.message}`
  const errors = (error.errors ?? []).map(each => ({ ...each, detail: `In "${path}(...)": ${each.detail}`, parameter }))
  return restError('parameter_invalid', detail, { errors, cause: error })
}
