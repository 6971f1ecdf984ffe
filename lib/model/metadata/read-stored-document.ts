/**
 * Reads how an embedded object, or a list of them, is stored as JSON: by which keys, in which order, and with which conversions MikroORM
 * does so. Gives nothing where code of the application makes such objects or looks at them, and for links and objects of several classes.
 */
import { JsonType, isRaw, type EntityMetadata, type EntityProperty, type Platform } from '@mikro-orm/core'
import type { ToDocument } from '../stored-table.ts'

/** What is stored of one property inside. */
interface DocumentPart {
  readonly property: string
  readonly key: string
  /** The value of a new object that is given none. */
  readonly default: unknown
  readonly store: ToDocument
}

/**
 * Returns what makes the JSON of an embedded property; undefined where the unit of work does.
 *
 * @param isPlain whether no code of the application makes, or looks at, objects of a class
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
  // MikroORM renames keys where they stand, and puts objects behind them.
  const isObject = ({ property }: DocumentPart): boolean => prop.embeddedProps[property]!.kind === 'embedded'
  const ordered = [...parts.filter(part => !isObject(part)), ...parts.filter(isObject)]
  const store: ToDocument = (value, current) =>
    value === null ? null : storeObject(ordered, value as JsonLike, current as JsonLike | null)
  if (prop.array !== true) return store
  return value => (value === null ? null : (value as readonly unknown[]).map(member => store(member, null)))
}

type JsonLike = Readonly<Record<string, unknown>>

/** Returns an object as it is stored, with what the current one has and the value does not give. */
function storeObject(parts: readonly DocumentPart[], value: JsonLike, current: JsonLike | null): JsonLike {
  const stored: Record<string, unknown> = {}
  for (const { property, key, default: fixed, store } of parts) {
    const given = value[property] === undefined && current === null ? fixed : value[property]
    if (given !== undefined) stored[key] = store(given, current?.[key] ?? null)
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

/** Returns the conversion of a plain value; undefined for a type that is more than a conversion. */
function storeScalar({ customType: type }: EntityProperty, platform: Platform): ToDocument | undefined {
  if (type === undefined || type instanceof JsonType) return value => value
  return value => type.convertToDatabaseValue(value, platform, { mode: 'serialization' }) as unknown
}
