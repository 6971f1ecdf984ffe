/**
 * Reads the resource option `open`, by which bodies may name attributes unknown to the model. Their values go to one JSON property (the
 * holder); each learned name becomes an attribute for any JSON.
 */
import { checkNames, findNearest, formatHint } from '../foundation/base/suggest.ts'
import type { Attribute, OpenAttributes, ScalarAttribute } from './model.ts'
import type { OpenOption } from './resource-config.ts'

/** By entity class. Immutable. */
export type LearnedNames = Readonly<Record<string, readonly string[]>>

export const NOTHING_LEARNED: LearnedNames = Object.freeze({})

/** For each resource. */
const MAX_LEARNED = 500
/** In UTF-16 units. */
const MAX_NAME = 200

interface OpenResult {
  readonly attributes: readonly Attribute[]
  readonly open: OpenAttributes | undefined
}

/** @param where begins error texts */
export function applyOpen(
  where: string,
  attributes: readonly Attribute[],
  option: OpenOption | undefined,
  { learned, exact }: Pick<OpenAttributes, 'learned' | 'exact'>,
): OpenResult {
  if (option === undefined) return { attributes, open: undefined }
  const { property, once = false, except = [] } = readOption(option, `${where}: "open"`)
  const found = attributes.find(attribute => attribute.property === property)
  if (found === undefined) {
    const properties = attributes.map(each => each.property)
    throw new TypeError(`${where}: open: there is no property "${property}".${formatHint(findNearest(property, properties))}`)
  }
  const isHolder = found.kind === 'scalar' && found.type.kind === 'json' && found.source.kind === 'column' && found.nullable
  if (!isHolder) throw new TypeError(`${where}: open: "${property}" must be a JSON property that can be null.`)
  const holder: ScalarAttribute = Object.freeze({ ...found, hidden: true, readOnly: true, required: false, needed: false })
  const taken = new Set(attributes.map(({ name }) => name))
  const names = learned.filter(name => !taken.has(name))
  return {
    attributes: [
      ...attributes.map(attribute => (attribute === found ? holder : attribute)),
      ...names.map(name => buildMember(name, holder)),
    ],
    open: Object.freeze({ holder, once, except: new Set(except), exact, learned: Object.freeze(names) }),
  }
}

function readOption(option: OpenOption, where: string): Exclude<OpenOption, string> {
  const read = typeof option === 'string' ? { property: option } : option
  if (typeof read !== 'object' || read === null || Array.isArray(read))
    throw new TypeError(`${where} must be the name of a property, or { property, once, except }.`)
  checkNames(read, ['property', 'once', 'except'], where)
  const { property, once = false, except = [] } = read as Partial<Exclude<OpenOption, string>>
  if (typeof property !== 'string') throw new TypeError(`${where}: "property" must be the name of a property.`)
  if (typeof once !== 'boolean') throw new TypeError(`${where}: "once" must be a boolean.`)
  if (!Array.isArray(except) || !except.every(name => typeof name === 'string'))
    throw new TypeError(`${where}: "except" must be an array of names.`)
  return { property, once, except }
}

export function buildMember(name: string, holder: ScalarAttribute): ScalarAttribute {
  return Object.freeze({
    ...holder,
    name,
    property: holder.property,
    nullable: true,
    hidden: false,
    readOnly: false,
    filterable: true,
    sortable: true,
    render: undefined,
    type: Object.freeze({ kind: 'jsonValue' }),
    source: Object.freeze({ kind: 'within', json: holder, names: Object.freeze([name]) }),
  } as const)
}

/** SQLite has no path to a key with a quote or backslash. */
export function takesName(name: string, { once, except, learned, holder }: OpenAttributes): boolean {
  if (once && learned.length > 0) return false
  if (learned.length >= MAX_LEARNED || name.length > MAX_NAME || except.has(name) || name === holder.name) return false
  return name !== '' && name !== '__proto__' && !/["\\]/.test(name) && name.isWellFormed()
}

/** Returns the same object if nothing is new. */
export function addLearned(known: LearnedNames, more: LearnedNames): LearnedNames {
  let all = known
  for (const [className, names] of Object.entries(more)) {
    const before = all[className] ?? []
    const fresh = names.filter(name => !before.includes(name))
    if (fresh.length > 0) all = Object.freeze({ ...all, [className]: Object.freeze([...before, ...fresh]) })
  }
  return all
}
