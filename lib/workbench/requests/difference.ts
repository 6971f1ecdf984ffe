/** Compares two JSON values by path, array items by index. */

interface LineDifference {
  /** Dotted; empty for the whole value. */
  readonly path: string
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
