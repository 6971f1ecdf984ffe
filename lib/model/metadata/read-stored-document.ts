/**
 * Turns an embedded object into JSON as MikroORM stores it: keys, order, conversions. Not for objects with links, of several classes, or
 * made or looked at by code of the application.
 */
import { JsonType, isRaw, type EntityMetadata, type EntityProperty, type Platform } from '@mikro-orm/core'
import type { ToDocument } from '../stored-table.ts'

interface DocumentPart {
  readonly property: string
  readonly key: string
  readonly default: unknown
  readonly store: ToDocument
}

/**
 * Undefined: the unit of work makes the JSON.
 *
 * @param isPlain no code of the application makes or looks at objects of a class
 */
export function readDocument(prop: EntityProperty, platform: Platform, isPlain: (meta: EntityMetadata) => boolean): ToDocument | undefined {
  const target = prop.targetMeta
  if (target === undefined || target.polymorphs !== undefined || !isPlain(target)) return undefined
  const parts: DocumentPart[] = []
  for (const [property, child] of Object.entries(prop.embeddedProps)) {
    const declared = target.properties[property] as EntityProperty | undefined
    if (declared === undefined || !isStoredInside(declared)) return undefined
    const store = child.kind === 'embedded' ? readDocument(child, platform, isPlain) : storeScalar(child, platform)
    if (store === undefined) return undefined
    const fixed: unknown = declared.default === null || isRaw(declared.default) ? undefined : declared.default
    parts.push({ property, key: child.fieldNames?.[0] ?? property, default: fixed, store })
  }
  // MikroORM renames keys in place, and puts objects last.
  const isObject = ({ property }: DocumentPart): boolean => prop.embeddedProps[property]!.kind === 'embedded'
  const ordered = [...parts.filter(part => !isObject(part)), ...parts.filter(isObject)]
  const store: ToDocument = (value, current) =>
    value === null ? null : storeObject(ordered, value as JsonLike, current as JsonLike | null)
  if (prop.array !== true) return store
  return value => (value === null ? null : (value as readonly unknown[]).map(member => store(member, null)))
}

type JsonLike = Readonly<Record<string, unknown>>

/** Members left out of `value` stay. */
function storeObject(parts: readonly DocumentPart[], value: JsonLike, current: JsonLike | null): JsonLike {
  const stored: Record<string, unknown> = {}
  for (const { property, key, default: fixed, store } of parts) {
    const valueToStore = value[property] === undefined && current === null ? fixed : value[property]
    if (valueToStore !== undefined) stored[key] = store(valueToStore, current?.[key] ?? null)
    else if (current?.[key] !== undefined) stored[key] = current[key]
  }
  return stored
}

function isStoredInside({ kind, persist, formula, generated, onCreate, onUpdate, lazy, hidden }: EntityProperty): boolean {
  const isSet = onCreate !== undefined || onUpdate !== undefined
  return (
    (kind === 'scalar' || kind === 'embedded') &&
    persist !== false &&
    formula === undefined &&
    generated === undefined &&
    !isSet &&
    lazy !== true &&
    hidden !== true
  )
}

function storeScalar({ customType: type }: EntityProperty, platform: Platform): ToDocument {
  if (type === undefined || type instanceof JsonType) return value => value
  return value => type.convertToDatabaseValue(value, platform, { mode: 'serialization' }) as unknown
}
