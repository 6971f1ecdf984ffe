/**
 * Writes an entity as a module of an ejected project: `defineEntity` and the builders of `p`, without MikroORM's defaults. Parts without a
 * form as code are refused or left out, by name; eject.ts proves the rest.
 */
import { Cascade, UnderscoreNamingStrategy, type EntityMetadata, type EntityProperty } from '@mikro-orm/core'
import { FileType } from '../../databases/sqlite/introspect/file-type.ts'
import { isHiddenInverse } from '../../model/metadata/read-common.ts'
import { originalFunction } from '../../databases/orm/on-update.ts'
import { CommandError } from './command-error.ts'
import type { LeftOut } from './eject-left-out.ts'
import { FileTypes, declareReaders, scalarBuilder } from './eject-scalar.ts'
import { Code, chain, isLiteral, lines, literal, member, type LinkedSource } from './source.ts'

const NAMES = new UnderscoreNamingStrategy()

const REFUSED = [
  'accessor',
  'collation',
  'customOrder',
  'deferMode',
  'extra',
  'foreignKeyName',
  'getter',
  'getterName',
  'groups',
  'ignoreSchemaChanges',
  'mapToPk',
  'nativeEnumName',
  'serializer',
  'setter',
  'strategy',
  'through',
  'where',
] as const

const FLAGS = ['hidden', 'lazy', 'eager', 'ref', 'version', 'concurrencyCheck', 'orphanRemoval'] as const

type ModuleOf = (meta: EntityMetadata) => string

/** @param isFromFile existing tables gave the model: unusual column types are written, the usual rules of such tables left out */
export function entityModule(meta: EntityMetadata, moduleOf: ModuleOf, isFromFile: boolean, leftOut: LeftOut): string {
  refuseEntity(meta, isFromFile)
  const types = new FileTypes()
  const properties = meta.props
    .filter(prop => prop.embedded === undefined && !isHiddenInverse(prop) && !leftOut.has(`${meta.className}.${prop.name}`))
    .flatMap(prop => {
      try {
        return [new PropertyWriter(meta, prop, isFromFile, types)]
      } catch (error) {
        if (error instanceof Unwritable && leftOut.add(meta, prop, `it cannot be written as code, because ${error.reason}`)) return []
        throw error
      }
    })
  const members = [member('name', literal(meta.className))]
  if (meta.embeddable) members.push('embeddable: true')
  else if (meta.tableName !== NAMES.classToTableName(meta.className)) members.push(member('tableName', literal(meta.tableName)))
  if (meta.schema !== undefined) members.push(member('schema', literal(meta.schema)))
  if (meta.comment !== undefined) members.push(member('comment', literal(meta.comment)))
  if (meta.readonly === true) members.push('readonly: true')
  if (meta.expression !== undefined) members.push(member('expression', literal(meta.expression)))
  const written = properties.map(property => property.write())
  members.push(member('properties', lines('{', written, '}')))
  for (const [name, value] of entityOptions(meta)) members.push(member(name, literal(value)))
  const targets = new Set(properties.flatMap(({ targets: all }) => all.filter(target => target.class !== meta.class)))
  const declarations = types.declarations()
  const imports = [
    ...(properties.some(property => property.usesUuid) ? [`import { randomUUID } from 'node:crypto'`] : []),
    `import { ${properties.some(property => property.usesCascade) ? 'Cascade, ' : ''}defineEntity, p } from '@mikro-orm/core'`,
    ...(declarations.length > 0 ? [`import { fileType } from 'mikro-rest'`] : []),
    ...[...targets]
      .map(target => [target.className, moduleOf(target)] as const)
      .toSorted(([, a], [, b]) => (a < b ? -1 : 1))
      .map(([name, file]) => `import { ${name} } from '${file}'`),
  ]
  const code = `export const ${meta.className} = defineEntity(${lines('{', members, '}')})\n`
  return `${imports.join('\n')}\n\n${[...declarations, ...declareReaders(code)].map(each => `${each}\n`).join('')}${code}`
}

class Unwritable extends CommandError {
  readonly reason: string

  constructor(place: string, reason: string) {
    super(`${place} cannot be written as code: ${reason}.`)
    this.reason = reason
  }
}

function refuse(meta: EntityMetadata, property: string | undefined, reason: string): Unwritable {
  return new Unwritable(`${meta.className}${property === undefined ? '' : `.${property}`}`, reason)
}

function refuseEntity(meta: EntityMetadata, isFromFile: boolean): void {
  if (!/^[\p{ID_Start}_$][\p{ID_Continue}$]*$/u.test(meta.className)) throw refuse(meta, undefined, 'its name is not an identifier')
  if (meta.inheritanceType !== undefined || meta.root.inheritanceType !== undefined)
    throw refuse(meta, undefined, 'it is part of an inheritance')
  const isView = meta.virtual === true || meta.view === true || meta.expression !== undefined
  if (isView && !(isFromFile && typeof meta.expression === 'string')) throw refuse(meta, undefined, 'it is a view')
  const hooks = Object.entries(meta.hooks).flatMap(([name, list]) => ((list as readonly unknown[] | undefined)?.length ? [name] : []))
  if (hooks.length > 0) throw refuse(meta, undefined, `it has a hook (${hooks.join(', ')}), which is code already`)
}

function entityOptions(meta: EntityMetadata): [string, unknown][] {
  const options: [string, unknown][] = []
  const set = (name: string, value: unknown): void => {
    if (!isLiteral(value)) throw refuse(meta, undefined, `its option "${name}" has code in it`)
    options.push([name, value])
  }
  const isComposite = (properties: unknown): boolean => {
    const prop = typeof properties === 'string' ? (meta.properties[properties] as EntityProperty) : undefined
    return prop?.polymorphTargets !== undefined || (prop?.joinColumns?.length ?? 0) > 1
  }
  // MikroORM itself adds an index for every foreign key of several columns, and a check for every enum.
  const indexes = meta.indexes.filter(index => index.name !== undefined || !isComposite(index.properties))
  const checks = meta.checks.filter(
    ({ property }) => (meta.properties[property as never] as EntityProperty | undefined)?.items === undefined,
  )
  if (meta.uniques.length > 0) set('uniques', meta.uniques.map(withoutUndefined))
  if (indexes.length > 0) set('indexes', indexes.map(withoutUndefined))
  if (checks.length > 0) set('checks', checks.map(withoutUndefined))
  if (meta.orderBy !== undefined && (!Array.isArray(meta.orderBy) || meta.orderBy.length > 0)) set('orderBy', meta.orderBy)
  if (Object.keys(meta.filters).length > 0) set('filters', meta.filters)
  return options
}

function withoutUndefined(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined))
}

class PropertyWriter {
  readonly #meta: EntityMetadata
  readonly #prop: EntityProperty
  readonly #isFromFile: boolean
  readonly #types: FileTypes
  readonly #links: LinkedSource[] = []
  usesUuid = false
  usesCascade = false

  constructor(meta: EntityMetadata, prop: EntityProperty, isFromFile: boolean, types: FileTypes) {
    this.#types = types
    this.#meta = meta
    this.#isFromFile = isFromFile
    this.#prop = prop
    for (const name of REFUSED)
      if (prop[name] !== undefined && prop[name] !== false) throw this.#refuse(`it has "${name}", for which --eject writes nothing`)
    this.#base()
    this.#settings()
  }

  get targets(): readonly EntityMetadata[] {
    const { kind, targetMeta, polymorphTargets } = this.#prop
    return kind === 'scalar' ? [] : (polymorphTargets ?? [targetMeta!])
  }

  write(): string {
    const value = chain('p', this.#links)
    return member(this.#prop.name, this.targets.length === 0 ? value : `() => ${value}`)
  }

  #refuse(reason: string): CommandError {
    return refuse(this.#meta, this.#prop.name, reason)
  }

  #add(...link: LinkedSource): void {
    const odd = link.slice(1).find(argument => !isLiteral(argument))
    if (odd !== undefined) throw this.#refuse(`its "${link[0]}" is code already`)
    this.#links.push(link)
  }

  #base(): void {
    const prop = this.#prop
    if (prop.kind === 'scalar') {
      this.#scalar()
      return
    }
    const builder = { 'm:1': 'manyToOne', '1:1': 'oneToOne', '1:m': 'oneToMany', 'm:n': 'manyToMany', embedded: 'embedded' }[prop.kind]
    const [target, ...others] = this.targets.map(({ className }) => new Code(className))
    this.#add(builder, prop.polymorphTargets === undefined ? target! : [target!, ...others])
    if (prop.kind === 'embedded') this.#embedded()
    else this.#relation()
  }

  #scalar(): void {
    const prop = this.#prop
    const links = scalarBuilder(prop, this.#meta.readonly === true)
    if (links === undefined) throw this.#refuse(`its type, ${prop.customType?.constructor.name ?? prop.type}, is code already`)
    for (const [name, ...args] of links) {
      const [first] = args
      const { customType } = prop
      const isFile = customType instanceof FileType && first instanceof Code
      this.#add(name, ...(isFile ? [new Code(this.#types.name(customType.scalar.kind, first.text))] : args))
    }
    if (prop.formula !== undefined) this.#add('formula', prop.formula)
  }

  #embedded(): void {
    const prop = this.#prop
    if (prop.object === true) this.#add('object')
    if (prop.array === true) this.#add('array')
    if (prop.prefix !== true && prop.prefix !== undefined) this.#add('prefix', prop.prefix)
    if (prop.prefixMode !== undefined) this.#add('prefixMode', prop.prefixMode)
  }

  #relation(): void {
    const prop = this.#prop
    const { targetMeta } = prop
    if (prop.mappedBy !== undefined) this.#add('mappedBy', prop.mappedBy)
    if (prop.targetKey !== undefined) this.#add('targetKey', prop.targetKey)
    if (prop.polymorphTargets !== undefined) this.#discriminator(prop.polymorphTargets)
    const other = prop.inversedBy === undefined ? undefined : (targetMeta!.properties[prop.inversedBy] as EntityProperty | undefined)
    // The other side of a polymorphic relation names the relation.
    const isTold = other !== undefined && !isHiddenInverse(other) && prop.polymorphTargets === undefined
    if (prop.owner && isTold) this.#add('inversedBy', prop.inversedBy)
    if (prop.kind === 'm:n' && prop.owner) this.#pivot()
    else if (prop.owner) {
      const keys = targetMeta?.getPrimaryProps().flatMap(({ fieldNames }) => fieldNames) ?? []
      // MikroORM names a link's column after the primary key, even if the link leads to another key, unless the primary key has several
      // columns.
      const named = prop.targetKey === undefined || keys.length > 1 ? prop.referencedColumnNames : keys
      const standard = named.map(column => NAMES.joinKeyColumnName(prop.discriminator ?? prop.name, column))
      if (standard.join('\0') !== prop.joinColumns.join('\0'))
        this.#add(prop.joinColumns.length === 1 ? 'joinColumn' : 'joinColumns', ...prop.joinColumns)
      const isBeside = prop.polymorphTargets === undefined && prop.joinColumns.length > keys.length
      if (isBeside) this.#add('referencedColumnNames', ...prop.referencedColumnNames)
      this.#rules()
      if (!prop.createForeignKeyConstraint && prop.polymorphTargets === undefined) this.#add('createForeignKeyConstraint', false)
    }
    if (prop.cascade.join() !== 'persist') {
      this.usesCascade = true
      this.#add(
        'cascade',
        ...prop.cascade.map(cascade => new Code(`Cascade.${Object.entries(Cascade).find(([, value]) => value === cascade)![0]}`)),
      )
    }
    if (prop.orderBy !== undefined) {
      const orders = Array.isArray(prop.orderBy) ? prop.orderBy : [prop.orderBy]
      if (orders.length > 0) this.#add('orderBy', ...orders)
    }
  }

  #discriminator(targets: readonly EntityMetadata[]): void {
    const { name: property, discriminator = property, discriminatorColumn, discriminatorMap = {} } = this.#prop
    if (discriminator !== property) this.#add('discriminator', discriminator)
    if (discriminatorColumn !== NAMES.discriminatorColumnName(discriminator))
      throw this.#refuse('it has a "discriminatorColumn", for which --eject writes nothing')
    const named = Object.entries(discriminatorMap).map(
      ([value, entity]) => [value, targets.find(target => target.class === entity)!] as const,
    )
    if (named.some(([value, { tableName }]) => value !== tableName))
      this.#add('discriminatorMap', Object.fromEntries(named.map(([value, { className }]) => [value, className])))
  }

  /** Writes rules for rows with a link to a changed or deleted row. */
  #rules(): void {
    const { nullable, primary, deleteRule, updateRule, targetKey, targetMeta } = this.#prop
    const isWholeKey = primary === true && this.#meta.getPrimaryProps().every(({ kind }) => kind !== 'scalar')
    const standard = isWholeKey ? 'cascade' : undefined
    const usual = nullable === true ? 'set null' : (standard ?? (this.#isFromFile ? 'no action' : undefined))
    if (deleteRule !== undefined && deleteRule !== usual) this.#add('deleteRule', deleteRule)
    const usualOfFile = targetKey === undefined ? updateRule : 'no action'
    const usualUpdate = this.#isFromFile ? usualOfFile : targetMeta!.compositePK ? 'cascade' : standard
    if (updateRule !== undefined && updateRule !== usualUpdate) this.#add('updateRule', updateRule)
  }

  #pivot(): void {
    const prop = this.#prop
    const { targetMeta } = prop
    const meta = this.#meta
    const isSelf = targetMeta!.class === meta.class
    const nameColumns = (side: EntityMetadata, suffix: string): string[] =>
      side
        .getPrimaryProps()
        .flatMap(key =>
          key.fieldNames.map(column =>
            NAMES.joinKeyColumnName(side.className, column, false, side.tableName).replace(/(?=_[^_]*$)/, suffix),
          ),
        )
    if (prop.polymorphic === true) throw this.#refuse('its pivot table is one of several entities')
    if (prop.pivotEntity !== undefined && !isGenerated(prop)) throw this.#refuse('its pivot is an entity of its own')
    if (prop.fixedOrder === true) this.#add('fixedOrder')
    if (prop.fixedOrderColumn !== undefined && prop.fixedOrderColumn !== NAMES.referenceColumnName())
      this.#add('fixedOrderColumn', prop.fixedOrderColumn)
    if (prop.pivotTable !== NAMES.joinTableName(meta.className, targetMeta!.tableName, prop.name, meta.tableName))
      this.#add('pivotTable', prop.pivotTable)
    const [ownerColumns, targetColumns] = [nameColumns(meta, isSelf ? '_1' : ''), nameColumns(targetMeta!, isSelf ? '_2' : '')]
    if (ownerColumns.join() !== prop.joinColumns.join())
      this.#add(prop.joinColumns.length === 1 ? 'joinColumn' : 'joinColumns', ...prop.joinColumns)
    if (targetColumns.join() !== prop.inverseJoinColumns.join()) {
      this.#add(prop.inverseJoinColumns.length === 1 ? 'inverseJoinColumn' : 'inverseJoinColumns', ...prop.inverseJoinColumns)
    }
  }

  #settings(): void {
    const prop = this.#prop
    const isKey = prop.primary === true
    if (isKey) this.#add('primary')
    const isCounted = isKey && this.#meta.primaryKeys.length === 1 && ['integer', 'bigint', 'smallint'].includes(this.#links[0]![0])
    if (isCounted && prop.autoincrement !== true) this.#add('autoincrement', false)
    if (
      prop.kind === 'scalar' &&
      prop.persist !== false &&
      prop.formula === undefined &&
      prop.fieldNames[0] !== NAMES.propertyToColumnName(prop.name)
    )
      this.#add('fieldName', prop.fieldNames[0])
    if (prop.kind === 'embedded' && prop.object === true && prop.fieldNames[0] !== NAMES.propertyToColumnName(prop.name))
      this.#add('fieldName', prop.fieldNames[0])
    const [column] = prop.columnTypes ?? []
    if (this.#isFromFile && prop.kind === 'scalar' && column !== undefined && !isUsualColumn(prop, column)) this.#add('columnType', column)
    if (prop.serializedName !== undefined) this.#add('serializedName', prop.serializedName)
    if (prop.nullable === true) this.#add('nullable')
    if (prop.persist === false && prop.formula === undefined) this.#add('persist', false)
    if (prop.unique && !(prop.kind === '1:1')) this.#add('unique', ...(prop.unique === true ? [] : [prop.unique]))
    if (prop.index && prop.kind === 'scalar') this.#add('index', ...(prop.index === true ? [] : [prop.index]))
    for (const name of FLAGS) if (prop[name] === true) this.#add(name)
    if (prop.comment !== undefined) this.#add('comment', prop.comment)
    if (prop.generated !== undefined) this.#add('generated', prop.generated)
    if (prop.default !== undefined) this.#add('default', prop.default)
    else if (prop.defaultRaw !== undefined && prop.version !== true) this.#add('defaultRaw', prop.defaultRaw)
    if (prop.onCreate !== undefined) this.#add('onCreate', this.#code(originalFunction(prop.onCreate), 'onCreate'))
    if (prop.onUpdate !== undefined) this.#add('onUpdate', this.#code(originalFunction(prop.onUpdate), 'onUpdate'))
  }

  /** Writes `new Date()` and `randomUUID()`: other functions may depend on their place. */
  #code(written: object, name: string): Code {
    const text = Function.prototype.toString
      .call(written)
      .replaceAll(/\/\*[^]*?\*\//g, '')
      .replaceAll(/\s+/g, ' ')
      .replaceAll(/ ?(=>|[(),.]) ?/g, '$1')
    if (/^\(\)=>new Date(\(\))?$/.test(text)) return new Code('() => new Date()')
    if (/^\(\)=>(\(0,)?(\w+\.)*randomUUID\)?\(\)$/.test(text)) {
      this.usesUuid = true
      return new Code('() => randomUUID()')
    }
    throw this.#refuse(`its "${name}" is code already`)
  }
}

/** Column types of the builders of `p` on PostgreSQL. */
const USUAL =
  /^(?:(?:big|small)?serial|int|integer|smallint|bigint|varchar(?:\(\d+\))?|text|boolean|timestamptz(?:\(\d\))?|date|time(?:\(\d\))?|uuid|jsonb|bytea|double precision|numeric\(\d+,\d+\)|text\[\])$/

/** In a SQLite file, a property's type decides. */
function isUsualColumn({ customType }: EntityProperty, column: string): boolean {
  return customType instanceof FileType || USUAL.test(column)
}

function isGenerated(prop: EntityProperty): boolean {
  const { pivotEntity } = prop as { pivotEntity?: unknown }
  return typeof pivotEntity === 'function' && pivotEntity.name === prop.pivotTable
}
