/** Difference: what two JSON values differ in, as paths with both values. Items of lists are compared by their place. */

interface LineDifference {
  /** Dotted; empty: the whole. */
  readonly path: string
  /** Undefined: there is none. */
  readonly before: unknown
  readonly after: unknown
}

export function findDifferences(before: unknown, after: unknown, path = ''): LineDifference[] {
  if (Object.is(before, after)) return []
  if (!isObject(before) || !isObject(after) || Array.isArray(before) !== Array.isArray(after)) return [{ path, before, after }]
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return names.flatMap(name => findDifferences(before[name], after[name], path === '' ? name : `${path}.${name}`))
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
