/**
 * Notes the columns left out of an ejected model, because code cannot describe them. Keys, row IDs, relations and indexed columns always
 * stay.
 */
import type { EntityMetadata, EntityProperty } from '@mikro-orm/core'
import { FileType } from '../../databases/sqlite/introspect/file-type.ts'

export class LeftOut {
  readonly #isFromFile: boolean
  readonly #notes = new Map<string, string>()

  /** @param isFromFile a database gave the model; other models leave nothing out, since their tables are made of the code */
  constructor(isFromFile: boolean) {
    this.#isFromFile = isFromFile
  }

  get notes(): readonly string[] {
    return [...this.#notes.values()]
  }

  /** @param place `Class.property` */
  has(place: string): boolean {
    return this.#notes.has(place)
  }

  add(meta: EntityMetadata, prop: EntityProperty, reason: string): boolean {
    if (!this.#isFromFile || isNeeded(meta, prop)) return false
    const place = `${meta.className}.${prop.name}`
    const mustBeGiven =
      prop.nullable !== true && prop.default === undefined && prop.defaultRaw === undefined && prop.generated === undefined
    const effect = mustBeGiven
      ? 'records are read without it, and none can be created, because it must be given'
      : 'records are read and written without it'
    const column = prop.fieldNames[0]
    const now = `To serve it, write a property of the column ${JSON.stringify(column)} into its module in entities/`
    this.#notes.set(place, `${place} is left out: ${reason}; ${effect}. ${now}.`)
    return true
  }
}

function isNeeded(meta: EntityMetadata, prop: EntityProperty): boolean {
  const named = [...meta.uniques, ...meta.indexes].flatMap(({ properties }) => properties ?? []) as readonly string[]
  const isOrder = prop.customType instanceof FileType && prop.customType.isRowid
  return prop.kind !== 'scalar' || prop.primary === true || Boolean(prop.unique) || named.includes(prop.name) || isOrder
}
