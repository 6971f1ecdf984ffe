/** Keeps the outline of the served model, and the number of records of each resource. */
import { computed, signal } from '@preact/signals'
import type { Outline, OutlinedResource, OutlinedAttribute } from '../../description/outline/outline-parts.ts'
import { askWorkbench } from './ask.ts'
import { begun, refusal } from './live.ts'
import { version } from './place.ts'

export type { Outline, OutlinedAttribute, OutlinedResource }

export const outline = signal<Outline | undefined>(undefined)

const byName = computed(() => new Map(outline.value?.resources.map(resource => [resource.name, resource])))

/** null: not readable. */
export const counts = signal<ReadonlyMap<string, number | null>>(new Map())

export async function loadOutline(): Promise<void> {
  const query = version.value === undefined ? '' : `?version=${encodeURIComponent(version.value)}`
  const { body, text } = await askWorkbench('GET', `/outline.json${query}`)
  // Setting the outline makes screens read: the stream of changes must be open before.
  await begun
  refusal.value = (body as Outline).refused
  // The same outline must not make screens read again.
  if (text !== known) outline.value = body as Outline
  known = text
}

let known = ''

/** Of `reloadOutline`. */
export const modelChange = signal<string | undefined>(undefined)

/** Loads the outline after the server was away, and tells gone and new names. */
export async function reloadOutline(): Promise<void> {
  const before = outline.value
  await loadOutline()
  const after = outline.value
  if (before === undefined || after === before || before.version !== after?.version) return
  const [had, has] = [listNames(before), listNames(after)]
  const gone = [...had].filter(name => !has.has(name))
  const fresh = [...has].filter(name => !had.has(name))
  const texts = [describeNames(gone, 'gone'), describeNames(fresh, 'new')].filter(Boolean)
  if (texts.length > 0) modelChange.value = `${texts.join('; ')}.`
}

function listNames({ resources }: Outline): ReadonlySet<string> {
  return new Set(resources.flatMap(({ name, attributes }) => [name, ...attributes.map(attribute => `${name}.${attribute.name}`)]))
}

const NAMED = 8

function describeNames(names: readonly string[], what: string): string {
  const whole = names.filter(name => !name.includes('.') || !names.includes(name.split('.', 1)[0]!))
  const more = whole.length - NAMED
  return whole.length === 0 ? '' : `${what}: ${whole.slice(0, NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

export function findResource(name: string): OutlinedResource | undefined {
  return byName.value.get(name)
}

/** Such as `/v1/sites`. */
export function pathOf(name: string): string {
  return `${outline.value?.root ?? ''}/${encodeURIComponent(name)}`
}

export function parameterOf(name: keyof Outline['parameters']): string {
  return outline.value?.parameters[name] ?? name
}

/** Lists per request. */
const AT_ONCE = 100

export async function countLists(paths: readonly string[]): Promise<(number | null)[]> {
  const all: (number | null)[] = []
  const ending = `${parameterOf('limit')}=1&${parameterOf('depth')}=0`
  for (let index = 0; index < paths.length; index += AT_ONCE) {
    const part = paths.slice(index, index + AT_ONCE).map(path => `${path}${path.includes('?') ? '&' : '?'}${ending}`)
    all.push(...((await askWorkbench('POST', '/counts', { paths: part })).body as { readonly counts: (number | null)[] }).counts)
  }
  return all
}

export async function loadCounts(): Promise<void> {
  const names = outline.value?.resources.map(({ name }) => name) ?? []
  const found = await countLists(names.map(pathOf))
  counts.value = new Map(names.map((name, index) => [name, found[index] ?? null]))
}
