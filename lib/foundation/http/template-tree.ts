/**
 * Finds records, count and other parts in a body of an envelope template, without knowing the resource. Also for the typed client in
 * browsers.
 */

export const TEMPLATE_PARTS = {
  list: ['records', 'count', 'offset', 'limit', 'sort', 'filter', 'previous', 'next', 'page', 'pages', 'resource', 'success', 'timestamp'],
  record: ['record', 'resource', 'status', 'success', 'timestamp'],
  removed: ['record', 'records', 'count', 'resource', 'status', 'success', 'timestamp'],
} as const
export type TemplateKind = keyof typeof TEMPLATE_PARTS
export type ListPart = (typeof TEMPLATE_PARTS)['list'][number]
export type RecordPart = (typeof TEMPLATE_PARTS)['record'][number]
export type RemovedPart = (typeof TEMPLATE_PARTS)['removed'][number]
export type Part = ListPart | RecordPart | RemovedPart

export interface TemplateNames {
  readonly plural: string
  readonly singular: string
}

/** An undefined part leaves out the key. */
export type Parts = { readonly [part in Part]?: unknown }

export type Tree = readonly (readonly [key: string, part: Part | Tree])[]

export const HOLES = /\{(plural|singular)\}/g

export function toTree(template: object): Tree {
  return Object.entries(template).map(([key, part]: [string, unknown]) => [
    key,
    typeof part === 'object' && part !== null ? toTree(part) : (part as Part),
  ])
}

export function readTemplate(template: Tree, body: unknown): Parts | undefined {
  const trees = guessNames(template, body).map(names => nameKeys(template, names))
  // If several names fit, the engine's order of keys decides.
  for (const tree of [...trees.filter(each => isInOrder(each, body)), ...trees]) {
    const parts: Partial<Record<Part, unknown>> = {}
    if (readTree(tree, body, parts)) return parts
  }
  return undefined
}

export function nameKeys(tree: Tree, names: TemplateNames): Tree {
  return tree.map(([key, part]) => [
    key.replaceAll(HOLES, (_, hole: keyof TemplateNames) => names[hole]),
    typeof part === 'string' ? part : nameKeys(part, names),
  ])
}

/** Parts absent from some answers. */
const OPTIONAL: ReadonlySet<unknown> = new Set<Part>(['status'])

function readTree(tree: Tree, body: unknown, parts: Partial<Record<Part, unknown>>): boolean {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return false
  if (new Set(tree.map(([key]) => key)).size < tree.length) return false
  return tree.every(([key, part]) => {
    if (!Object.hasOwn(body, key)) return OPTIONAL.has(part)
    const value = (body as Readonly<Record<string, unknown>>)[key]
    if (typeof part !== 'string') return readTree(part, value, parts)
    parts[part] = value
    return true
  })
}

function isInOrder(tree: Tree, body: unknown): boolean {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return false
  const keys = tree.map(([key]) => key)
  const found = Object.keys(body).filter(key => keys.includes(key))
  const wanted = keys.filter(key => Object.hasOwn(body, key))
  return (
    found.join('\0') === wanted.join('\0') &&
    tree.every(([key, part]) => typeof part === 'string' || isInOrder(part, (body as Readonly<Record<string, unknown>>)[key]))
  )
}

function guessNames(tree: Tree, body: unknown): TemplateNames[] {
  const found: Record<keyof TemplateNames, Set<string>> = { plural: new Set(), singular: new Set() }
  guessIn(tree, body, found)
  const [plurals, singulars] = [
    [...found.plural, ''],
    [...found.singular, ''],
  ]
  return plurals.flatMap(plural => singulars.map(singular => ({ plural, singular })))
}

function guessIn(tree: Tree, body: unknown, found: Record<keyof TemplateNames, Set<string>>): void {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return
  for (const [key, part] of tree) {
    if (typeof part !== 'string') guessIn(part, (body as Readonly<Record<string, unknown>>)[key], found)
    const [hole, ...more] = [...key.matchAll(HOLES)]
    if (hole === undefined || more.length > 0) continue
    const [before, after] = [key.slice(0, hole.index), key.slice(hole.index + hole[0].length)]
    for (const name of Object.keys(body)) {
      if (name.length > before.length + after.length && name.startsWith(before) && name.endsWith(after))
        found[hole[1] as keyof TemplateNames].add(name.slice(before.length, name.length - after.length))
    }
  }
}
