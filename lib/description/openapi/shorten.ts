/** Removes texts for people from an OpenAPI document, for client generators. */
import { isObject } from '../../foundation/json/json.ts'
import type { OpenApiDocument } from './openapi-document.ts'
import type { Schema } from './schema.ts'

/** Members are names of the API: a property `description` must stay. */
const NAMED = new Set(['properties', 'patternProperties', '$defs'])
const VALUES = new Set(['const', 'enum', 'default'])
/** Client generators make a type of each schema: schemas stay. */
const SECTIONS = ['parameters', 'requestBodies', 'responses'] as const

export function shorten(document: OpenApiDocument): OpenApiDocument {
  const { info, tags, servers, paths, components } = document
  const bare = {
    ...document,
    tags: (tags as readonly Schema[]).map(({ name }) => ({ name })),
    servers: (servers as readonly Schema[]).map(({ url }) => ({ url })),
    paths: mapMembers(paths, item => mapMembers(item as Schema, part => strip(part))),
    components: mapMembers(components, section => mapMembers(section as Schema, part => strip(part))),
  }
  return { ...SECTIONS.reduce(placeRare, bare as OpenApiDocument), info }
}

/** OpenAPI requires descriptions of responses. */
function strip(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(strip)
  if (!isObject(node)) return node
  const isResponse = 'content' in node && !('required' in node)
  return Object.fromEntries(
    Object.entries(node).flatMap(([name, value]) => {
      if (name === 'description' && typeof value === 'string') return isResponse ? [[name, value]] : []
      if (name === 'example' || (name === 'examples' && Array.isArray(value))) return []
      if (VALUES.has(name)) return [[name, value]]
      return [[name, NAMED.has(name) && isObject(value) ? mapMembers(value, strip) : strip(value)]]
    }),
  )
}

/** Inlines rare components, if the document becomes shorter. */
function placeRare(document: OpenApiDocument, section: (typeof SECTIONS)[number]): OpenApiDocument {
  const { [section]: known = {}, ...others } = document.components as Readonly<Record<string, Schema>>
  const uses = countReferences(document)
  const isRare = ([name, component]: [string, unknown]): boolean => {
    const [own, reference] = [JSON.stringify(component).length, JSON.stringify(refer(section, name)).length]
    const times = uses.get(pointer(section, name)) ?? 0
    return times * own < times * reference + own + `"${name}":,`.length
  }
  const rare = new Map(
    Object.entries(known)
      .filter(isRare)
      .map(([name, component]) => [pointer(section, name), component]),
  )
  const kept = Object.fromEntries(Object.entries(known).filter(entry => !isRare(entry)))
  const components = { ...others, ...(Object.keys(kept).length === 0 ? {} : { [section]: kept }) }
  return replaceReferences({ ...document, components }, rare) as OpenApiDocument
}

function pointer(section: string, name: string): string {
  return `#/components/${section}/${name}`
}

function refer(section: string, name: string): Schema {
  return { $ref: pointer(section, name) }
}

function countReferences(document: OpenApiDocument): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) node.forEach(visit)
    if (!isObject(node)) return
    if (typeof node['$ref'] === 'string') counts.set(node['$ref'], (counts.get(node['$ref']) ?? 0) + 1)
    Object.values(node).forEach(visit)
  }
  visit(document)
  return counts
}

function replaceReferences(node: unknown, by: ReadonlyMap<string, unknown>): unknown {
  if (Array.isArray(node)) return node.map(each => replaceReferences(each, by))
  if (!isObject(node)) return node
  const target = node['$ref']
  const found = typeof target === 'string' ? by.get(target) : undefined
  return found ?? mapMembers(node, each => replaceReferences(each, by))
}

function mapMembers(object: Readonly<Record<string, unknown>>, change: (value: unknown) => unknown): Readonly<Record<string, Schema>> {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value) as Schema]))
}
