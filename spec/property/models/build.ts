/**
 * A drawn shape becomes a model: entities for MikroORM on one side, the oracle's resources and rows on the other. What the shape leaves
 * open (whom a pointer leads to, what a row holds) comes from its salt.
 */
import { defineEntity, p } from '@mikro-orm/sqlite'
import * as fc from 'fast-check'
import { idOf, keyParts } from '../../helpers/oracle.ts'
import type { Attribute, Json, PlainAttribute, RelationAttribute, Resource, Row, Scalar, Value } from '../../helpers/oracle.ts'
import type { Store } from '../../helpers/stores.ts'
import { code } from '../world/data.ts'
import type { World } from '../world/data.ts'
import { big, bodyOf, day, instant, kindOf, negative, slug, SlugType, twice, type KindName } from './kinds.ts'
import type { AttributeShape, EntityShape, KeyName, ListShape, ModelShape, OneShape } from './shape.ts'
import { storable } from './storable.ts'

/** One class: a table, or one of those that inherit from each other. */
export interface Node {
  readonly resource: Resource
  /** The class at the top, itself where nothing is inherited. */
  readonly root: Node
  readonly parent: Node | undefined
  /** Made by the writes of others, or not at all. */
  readonly readOnly: boolean
  readonly fields: readonly Field[]
  readonly ones: readonly One[]
  readonly lists: readonly List[]
  readonly inverses: readonly Inverse[]
  readonly hidden: boolean
  readonly defaulted: boolean
  readonly versioned: boolean
  readonly generated: boolean
  /** How the key is made, and what it consists of. */
  readonly key: KeyName | 'link' | 'tenant' | 'room' | 'desk' | 'view'
  /** The table's name in a file. */
  readonly table: string
}

/** A plain attribute or embedded object. */
export interface Field {
  readonly name: string
  readonly kind: KindName
  readonly nullable: boolean
}

export interface One {
  readonly name: string
  readonly target: Node
  readonly how: OneShape['how']
  readonly nullable: boolean
  /** A record that something refers to so cannot be deleted. */
  readonly holds: boolean
}

export interface List {
  readonly name: string
  readonly target: Node
  readonly how: ListShape['how']
  /** The entity of the pivot table. */
  readonly link: Node | undefined
}

/** The other side of a relation. */
export interface Inverse {
  readonly name: string
  readonly of: Node
  readonly by: string
  readonly kind: 'ones' | 'one' | 'lists'
}

export interface Model {
  readonly entities: unknown[]
  readonly nodes: readonly Node[]
  readonly world: World
  /** All rows, each under the class at the top of its own. */
  readonly rows: ReadonlyMap<Node, Row[]>
  nodeOf(row: Row): Node
  /** The node and those above it. */
  lineage(node: Node): readonly Node[]
  /** The classes that a record of the node may be of. */
  classesOf(node: Node): readonly Node[]
  /** All that a record of the class has, from the top down. */
  fieldsOf(node: Node): readonly Field[]
  onesOf(node: Node): readonly One[]
  listsOf(node: Node): readonly List[]
  inversesOf(node: Node): readonly Inverse[]
  /** A new row, not yet in the world: a free key and random values. `undefined` where no key is free, or nobody there to link. */
  draw(node: Node, random: Random): Row | undefined
  valueOf(field: Field, random: Random): Value
  /** Whom a row may link, or `null`; `undefined` where it must link somebody and cannot. */
  target(row: Row, relation: One, random: Random): Row | null | undefined
  /** As a body gives it. */
  body(row: Row): Record<string, Json>
}

/** Numbers from a seed (mulberry32). */
export class Random {
  #state: number
  constructor(seed: number) {
    this.#state = seed | 0
  }

  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296) * limit)
  }

  chance(oneIn: number): boolean {
    return this.below(oneIn) === 0
  }

  pick<T>(list: readonly T[]): T | undefined {
    return list[this.below(list.length)]
  }

  some<T>(list: readonly T[], most: number): T[] {
    const left = [...list]
    const taken: T[] = []
    for (let count = this.below(most + 1); count > 0 && left.length > 0; count--) taken.push(...left.splice(this.below(left.length), 1))
    return taken
  }

  of<T>(arbitrary: fc.Arbitrary<T>): T {
    return fc.sample(arbitrary, { seed: this.below(2 ** 31), numRuns: 1 })[0] as T
  }
}

const NAMES = ['Alpha', 'Beta', 'Gamma', 'Delta', 'Zeta', 'Theta']
const CLASSES = ['Cub', 'Pup', 'Foal']
const snake = (name: string): string => name.replaceAll(/(?<=[a-z])[A-Z]/g, '_$&').toLowerCase()
const lower = (name: string): string => name[0]!.toLowerCase() + name.slice(1)

const plain = (type: PlainAttribute['type'], nullable = false, more: Partial<PlainAttribute> = {}): PlainAttribute => ({
  kind: 'plain',
  type,
  nullable,
  ...more,
})
const SLUG = plain('custom', false, { codec: slug })

/** The parts of a key that are no relations. */
const KEY_PARTS: Record<Exclude<KeyName, 'owner' | 'ownerAndNumber'>, readonly [name: string, attribute: PlainAttribute][]> = {
  integer: [['id', plain('integer')]],
  string: [['code', plain('text')]],
  uuid: [['id', plain('uuid')]],
  bigint: [['id', plain('bigint')]],
  date: [['day', plain('date')]],
  datetime: [['moment', plain('datetime')]],
  slug: [['path', SLUG]],
  pair: [
    ['number', plain('integer')],
    ['code', plain('text')],
  ],
  customPair: [
    ['path', SLUG],
    ['day', plain('date')],
  ],
}
const PART_VALUES: Record<string, fc.Arbitrary<Scalar>> = {
  integer: fc.integer({ min: 1, max: 40 }),
  text: code,
  uuid: fc.uuid(),
  bigint: big,
  date: day,
  datetime: instant,
  custom: fc.constantFrom('slug:a', 'slug:b', 'slug:c', 'slug:a-b', 'slug:x ~', 'slug:~', 'slug:d', 'slug:e', 'slug:f'),
}
const partBuilder = ({ type }: PlainAttribute): unknown => {
  switch (type) {
    case 'text':
      return p.string().primary()
    case 'uuid':
      return p.uuid().primary()
    case 'bigint':
      return p.bigint().primary()
    case 'date':
      return p.date().primary()
    case 'datetime':
      return p.datetime(3).primary()
    case 'custom':
      return p.type(SlugType).primary()
    default:
      return p.integer().primary()
  }
}

/** Mutable while it is built. */
interface Draft {
  name: string
  node: Node
  properties: Record<string, unknown>
  attributes: Record<string, Attribute>
  options: Record<string, unknown>
  parent: Draft | undefined
  entity: unknown
  fields: Field[]
  ones: One[]
  lists: List[]
  inverses: Inverse[]
}

/** @param store values that PostgreSQL would store otherwise are drawn for memory only */
export function build({ entities: shapes, tenants, salt }: ModelShape, store: Store['name'] = 'memory'): Model {
  const random = new Random(salt)
  const drafts: Draft[] = []
  const rootDrafts: Draft[] = []
  const rows = new Map<Node, Row[]>()

  const draft = (name: string, key: Node['key'], parent: Draft | undefined, extras: EntityShape['extras'], readOnly = false): Draft => {
    const singular = snake(name)
    const made: Draft = {
      name,
      properties: {},
      attributes: {},
      options: {},
      parent,
      entity: undefined,
      fields: [],
      ones: [],
      lists: [],
      inverses: [],
      node: undefined as never,
    }
    const resource: Resource = {
      name: `${singular}s`,
      singular,
      key: parent === undefined ? [] : parent.node.resource.key,
      attributes: made.attributes,
      below: () => belowOf(made),
    }
    made.node = {
      resource,
      root: parent?.node.root ?? (undefined as never),
      parent: parent?.node,
      readOnly,
      fields: made.fields,
      ones: made.ones,
      lists: made.lists,
      inverses: made.inverses,
      hidden: extras.includes('hidden'),
      defaulted: extras.includes('defaulted'),
      versioned: parent?.node.versioned ?? extras.includes('version'),
      generated: extras.includes('generated'),
      key,
      table: snake(name),
    }
    if (parent === undefined) {
      ;(made.node as { root: Node }).root = made.node
      rows.set(made.node, [])
    }
    drafts.push(made)
    return made
  }
  const lineage = (node: Node): Node[] => (node.parent === undefined ? [node] : [node, ...lineage(node.parent)])
  const belowOf = (top: Draft): Record<string, Attribute> =>
    Object.assign({}, ...drafts.filter(each => each.parent === top).map(each => ({ ...own(each), ...belowOf(each) }))) as Record<
      string,
      Attribute
    >
  const ownNames = new Map<Draft, Set<string>>()
  const own = (of: Draft): Record<string, Attribute> =>
    Object.fromEntries(Object.entries(of.attributes).filter(([name]) => ownNames.get(of)?.has(name)))
  const put = (of: Draft, property: string, builder: unknown, attribute: Attribute | undefined, shown = property): void => {
    of.properties[property] = builder
    if (attribute === undefined) return
    of.attributes[shown] = attribute
    ownNames.set(of, (ownNames.get(of) ?? new Set()).add(shown))
  }
  const addFields = (to: Draft, attributes: readonly AttributeShape[], prefix = ''): void => {
    for (const { kind, nullable } of attributes) {
      const { define, as, shownAs } = kindOf(kind)
      const property = prefix === '' ? kind : prefix + kind[0]!.toUpperCase() + kind.slice(1)
      const shown = shownAs ?? property
      put(to, property, define(nullable), { ...as, nullable }, shown)
      to.fields.push({ name: shown, kind, nullable })
    }
  }
  const entityOf = (of: Draft) => of.entity as never

  const customKey = (node: Node): boolean =>
    node.root.key === 'slug' ||
    node.root.key === 'customPair' ||
    ((node.root.key === 'owner' || node.root.key === 'ownerAndNumber') && customKey(node.root.ones[0]!.target))
  const composite = (node: Node): boolean =>
    ['pair', 'customPair', 'ownerAndNumber', 'room', 'desk', 'link'].includes(node.root.key) ||
    (node.root.key === 'owner' && composite(node.root.ones[0]!.target))
  // Keys and plain attributes.
  const depth = new Map<Draft, number>()
  for (const [index, shape] of shapes.entries()) {
    const { key: wanted, extras, inheritance, classes } = shape
    const before = rootDrafts[index - 1]
    const owned = wanted === 'owner' || wanted === 'ownerAndNumber'
    // MikroORM loses such keys where tables inherit.
    const inherits = inheritance !== 'none' || shapes[index - 1]?.inheritance !== 'none'
    const holdsCustom = before !== undefined && customKey(before.node) && composite(before.node)
    const lost =
      owned && holdsCustom
        ? true
        : owned
          ? before === undefined || inherits || depth.get(before)! >= 2
          : wanted === 'customPair' && inheritance === 'tpt'
    const key: KeyName = lost ? 'integer' : wanted
    const root = draft(NAMES[index]!, key, undefined, extras)
    rootDrafts.push(root)
    depth.set(root, key === 'owner' || key === 'ownerAndNumber' ? depth.get(before!)! + 1 : 0)
    const keyNames: string[] = []
    if (key === 'owner' || key === 'ownerAndNumber') {
      const target = before!
      put(
        root,
        'owner',
        () => (key === 'owner' ? p.oneToOne(entityOf(target)).primary() : p.manyToOne(entityOf(target)).primary()),
        one(() => target.node.resource, false),
      )
      root.ones.push({ name: 'owner', target: target.node, how: 'plain', nullable: false, holds: true })
      keyNames.push('owner')
      if (key === 'ownerAndNumber') {
        put(root, 'number', p.integer().primary(), plain('integer'))
        keyNames.push('number')
      }
    } else {
      for (const [name, attribute] of KEY_PARTS[key]) {
        put(root, name, partBuilder(attribute), attribute)
        keyNames.push(name)
      }
    }
    ;(root.node.resource as { key: readonly string[] }).key = keyNames
    const names = inheritance === 'none' ? [] : classes.map((_, at) => `${root.name}${CLASSES[at]}`)
    if (inheritance === 'sti') {
      const items = [root.name, ...names].map(snake)
      put(root, 'kind', p.enum(items), plain('enum', false, { items }))
      root.options['discriminatorColumn'] = 'kind'
      root.options['discriminatorMap'] = Object.fromEntries([root.name, ...names].map(name => [snake(name), name]))
    }
    if (inheritance === 'tpt') root.options['inheritance'] = 'tpt'
    addFields(root, shape.attributes)
    if (extras.includes('hidden')) put(root, 'secret', p.string().hidden().nullable(), undefined)
    if (extras.includes('defaulted')) put(root, 'fallback', p.integer().default(7), plain('integer'))
    if (extras.includes('version')) put(root, 'version', p.integer().version(), plain('integer'))
    if (extras.includes('generated')) {
      put(root, 'base', p.integer().nullable(), plain('integer', true))
      put(root, 'twice', twice(), plain('integer', true))
      // MikroORM looks for the columns of an inherited formula in the wrong table.
      if (inheritance !== 'tpt') put(root, 'negative', negative(), plain('integer', true))
    }
    const subs: Draft[] = []
    for (const [at, name] of names.entries()) {
      const parent = classes[at]!.deeper && at > 0 ? subs[at - 1]! : root
      const sub = draft(name, key, parent, [])
      addFields(sub, classes[at]!.attributes, CLASSES[at]!.toLowerCase())
      subs.push(sub)
    }
  }

  // Relations, now that all classes are there.
  const targets = [...drafts]
  const indexOf = new Map(rootDrafts.map((root, index) => [root.node, index]))
  const later: (() => void)[] = []
  const addOne = (from: Draft, shape: OneShape, name: string): void => {
    const index = indexOf.get(from.node.root)!
    const earlier = targets.filter(each => indexOf.get(each.node.root)! < index)
    const required = !shape.nullable && shape.how !== 'unique' && earlier.length > 0
    const choice = required ? earlier : targets
    const target = choice[shape.to % choice.length]!
    const refusesPk = shape.how === 'mapToPk' && composite(target.node) && customKey(target.node)
    // MikroORM loses a one-to-one within a hierarchy.
    const how = refusesPk || (shape.how === 'unique' && target.node.root === from.node.root) ? 'plain' : shape.how
    const back = `${lower(from.name)}${name[0]!.toUpperCase()}${name.slice(1)}s`
    put(
      from,
      name,
      () => {
        let relation = how === 'unique' ? p.oneToOne(entityOf(target)) : p.manyToOne(entityOf(target))
        if (how === 'mapToPk') relation = (relation as unknown as { mapToPk(): typeof relation }).mapToPk()
        if (how === 'unique' && shape.inverse) relation = relation.inversedBy(back as never)
        return required ? relation : relation.nullable()
      },
      one(() => target.node.resource, !required),
    )
    from.ones.push({ name, target: target.node, how, nullable: !required, holds: required })
    if (!shape.inverse) return
    later.push(() => {
      if (how === 'unique') {
        put(
          target,
          back,
          () =>
            p
              .oneToOne(entityOf(from))
              .mappedBy(name as never)
              .nullable(),
          one(() => from.node.resource, true),
        )
        target.inverses.push({ name: back, of: from.node, by: name, kind: 'one' })
      } else {
        put(
          target,
          back,
          () => p.oneToMany(entityOf(from)).mappedBy(name as never),
          many(() => from.node.resource),
        )
        target.inverses.push({ name: back, of: from.node, by: name, kind: 'ones' })
      }
    })
  }
  for (const [index, { ones, lists, inheritance, classes }] of shapes.entries()) {
    const from = rootDrafts[index]!
    for (const [at, shape] of ones.entries()) addOne(from, shape, `one${at}`)
    for (const [at, { to, how: wanted, inverse: both }] of lists.entries()) {
      // Custom types in composite keys are refused; of a composite key behind a foreign key MikroORM writes a part only.
      const cannot = (node: Node): boolean => composite(node) && (customKey(node) || node.root.key === 'owner')
      const choice = targets.filter(({ node }) => !cannot(node))
      if (choice.length === 0 || cannot(from.node)) continue
      const target = choice[to % choice.length]!
      // MikroORM would give both sides the same columns.
      const isNear = target !== from && target.node.root === from.node.root
      if ((isNear && composite(from.node)) || from.node.root.key === 'datetime') continue
      const name = `list${at}`
      // MikroORM cannot change a record whose key is two composite foreign keys.
      const isPivot = wanted === 'pivot' && target.node.root !== from.node.root && !composite(from.node) && !composite(target.node)
      const how = (wanted === 'pivot' && !isPivot) || isNear ? 'plain' : wanted
      const back = `${lower(from.name)}List${at}s`
      // The other side of a fixed order is in the order in which links were made.
      const inverse = both && how !== 'fixed' && target.node.root.key !== 'datetime'
      let link: Draft | undefined
      if (isPivot) {
        link = draft(`${from.name}Link${'AB'[at]}`, 'link', undefined, [])
        put(
          link,
          'owner',
          () => p.manyToOne(entityOf(from)).primary(),
          one(() => from.node.resource, false),
        )
        put(
          link,
          'other',
          () => p.manyToOne(entityOf(target)).primary(),
          one(() => target.node.resource, false),
        )
        put(link, 'weight', p.integer().default(0), plain('integer'))
        ;(link.node.resource as { key: readonly string[] }).key = ['owner', 'other']
        link.ones.push({ name: 'owner', target: from.node, how: 'plain', nullable: false, holds: true })
        link.ones.push({ name: 'other', target: target.node, how: 'plain', nullable: false, holds: true })
      }
      put(
        from,
        name,
        () => {
          let relation = p.manyToMany(entityOf(target))
          // Without a name each class of several tables would have a pivot table of its own.
          if (inheritance === 'tpt' && link === undefined) relation = relation.pivotTable(`${from.node.table}_${name}`)
          if (isNear) relation = relation.joinColumn('near').inverseJoinColumn('far')
          if (link !== undefined) relation = relation.pivotEntity(() => link.entity as never)
          if (how === 'fixed') relation = relation.fixedOrder()
          return inverse ? relation.inversedBy(back as never) : relation
        },
        { ...many(() => target.node.resource), fixed: how === 'fixed' },
      )
      from.lists.push({ name, target: target.node, how, link: link?.node })
      if (!inverse) continue
      later.push(() => {
        put(
          target,
          back,
          () => p.manyToMany(entityOf(from)).mappedBy(name as never),
          many(() => from.node.resource),
        )
        target.inverses.push({ name: back, of: from.node, by: name, kind: 'lists' })
      })
    }
    if (inheritance === 'none') continue
    for (const [at, { one: shape }] of classes.entries()) {
      const sub = drafts.find(({ name }) => name === `${from.name}${CLASSES[at]}`)!
      if (shape !== null) addOne(sub, shape, `${CLASSES[at]!.toLowerCase()}One`)
    }
  }
  for (const add of later) add()
  if (tenants) addTenants()

  function addTenants(): void {
    const [tenant, room, desk] = [
      draft('Tenant', 'tenant', undefined, []),
      draft('Room', 'room', undefined, []),
      draft('Desk', 'desk', undefined, []),
    ]
    const kinds = shapes.flatMap(({ attributes }) => attributes)
    const keyOf = (of: Draft, key: readonly string[]): void => {
      ;(of.node.resource as { key: readonly string[] }).key = key
    }
    put(tenant, 'id', p.integer().primary(), plain('integer'))
    keyOf(tenant, ['id'])
    put(
      room,
      'tenant',
      () => p.manyToOne(entityOf(tenant)).primary(),
      one(() => tenant.node.resource, false),
    )
    put(room, 'number', p.integer().primary(), plain('integer'))
    addFields(room, kinds.slice(0, 1))
    put(
      room,
      'desks',
      () => p.oneToMany(entityOf(desk)).mappedBy('room' as never),
      many(() => desk.node.resource),
    )
    room.inverses.push({ name: 'desks', of: desk.node, by: 'room', kind: 'ones' })
    keyOf(room, ['tenant', 'number'])
    room.ones.push({ name: 'tenant', target: tenant.node, how: 'plain', nullable: false, holds: true })
    put(
      desk,
      'tenant',
      () => p.manyToOne(entityOf(tenant)).primary(),
      one(() => tenant.node.resource, false),
    )
    put(desk, 'id', p.integer().primary(), plain('integer'))
    put(
      desk,
      'room',
      () =>
        p
          .manyToOne(entityOf(room))
          .joinColumns('tenant_id', 'room_number')
          .referencedColumnNames('tenant_id', 'number')
          .ownColumns('room_number')
          .nullable(),
      one(() => room.node.resource, true),
    )
    keyOf(desk, ['tenant', 'id'])
    desk.ones.push({ name: 'tenant', target: tenant.node, how: 'plain', nullable: false, holds: true })
    desk.ones.push({ name: 'room', target: room.node, how: 'plain', nullable: true, holds: true })
  }

  // A view, or a query, of the number of rows that have one key.
  for (const [index, { extras }] of shapes.entries()) {
    const of = rootDrafts[index]!
    if (!['integer', 'string', 'uuid', 'date'].includes(of.node.key)) continue
    const [keyName] = of.node.resource.key
    const from = `select ${snake(keyName!)} as "key", (select count(*) from ${of.node.table}) as "total" from ${of.node.table}`
    for (const [extra, suffix] of [
      ['view', 'View'],
      ['virtual', 'Sum'],
    ] as const) {
      if (!extras.includes(extra)) continue
      const view = draft(`${of.name}${suffix}`, 'view', undefined, [], true)
      const attribute = of.attributes[keyName!] as PlainAttribute
      const builder = partBuilder(attribute)
      put(view, 'key', extra === 'view' ? builder : virtualPart(attribute), attribute)
      put(view, 'total', p.integer(), plain('integer'))
      ;(view.node.resource as { key: readonly string[] }).key = ['key']
      view.options['expression'] = from
      if (extra === 'view') view.options['view'] = true
      view.inverses.push({ name: '', of: of.node, by: keyName!, kind: 'ones' })
    }
  }

  // What is inherited comes first.
  for (const each of drafts) {
    const above = each.parent?.attributes ?? {}
    const mine = { ...each.attributes }
    for (const name of Object.keys(each.attributes)) delete each.attributes[name]
    Object.assign(each.attributes, above, mine)
  }
  // A class knows the names of itself and of those below.
  for (const { attributes, node, options, parent } of drafts) {
    const top = parent === undefined ? options : drafts.find(each => each.node === node.root)!.options
    if (top['discriminatorColumn'] === undefined) continue
    const items = drafts.filter(each => lineage(each.node).includes(node)).map(each => each.node.table)
    attributes['kind'] = plain('enum', false, { items })
  }
  for (const each of drafts) {
    each.entity = defineEntity({
      name: each.name,
      ...(each.parent === undefined ? {} : { extends: each.parent.entity }),
      ...each.options,
      properties: each.properties,
    } as never)
  }

  const byResource = new Map(drafts.map(({ node }) => [node.resource, node]))
  const nodeOf = (row: Row): Node => byResource.get(row.of)!
  const nodes = drafts.map(({ node }) => node)
  const classesOf = (node: Node): Node[] => nodes.filter(each => lineage(each).includes(node))
  const topDown = <T>(node: Node, list: (of: Node) => readonly T[]): T[] => lineage(node).toReversed().flatMap(list)
  const rowsOf = (node: Node): Row[] =>
    node.key === 'view' ? viewRows(node) : rows.get(node.root)!.filter(row => lineage(nodeOf(row)).includes(node))

  function viewRows(node: Node): Row[] {
    const { of, by } = node.inverses[0]!
    const all = rowsOf(of)
    return all.map(row => ({ of: node.resource, values: { key: row.values[by]!, total: all.length } }))
  }

  const world: Record<string, readonly Row[]> = {}
  for (const node of nodes) Object.defineProperty(world, node.resource.name, { enumerable: true, get: () => rowsOf(node) })

  /** What follows from other values is asked for when it is needed. */
  function derive(row: Row): Row {
    const node = nodeOf(row)
    const getter = (name: string, get: () => Value): void => {
      Object.defineProperty(row.values, name, { enumerable: true, configurable: true, get })
    }
    if (node.root.generated) {
      getter('twice', () => (row.values['base'] === null ? null : Number(row.values['base']) * 2))
      if ('negative' in node.root.resource.attributes)
        getter('negative', () => (row.values['base'] === null ? null : 0 - Number(row.values['base'])))
    }
    for (const { name, of, by, kind } of topDown(node, each => each.inverses)) {
      if (kind === 'lists') getter(name, () => rowsOf(of).filter(other => (other.values[by] as Row[]).includes(row)))
      else if (kind === 'ones') getter(name, () => rowsOf(of).filter(other => other.values[by] === row))
      else getter(name, () => rowsOf(of).find(other => other.values[by] === row) ?? null)
    }
    for (const { name, link } of topDown(node, each => each.lists)) {
      if (link === undefined) continue
      getter(name, () => rowsOf(link).flatMap(other => (other.values['owner'] === row ? [other.values['other'] as Row] : [])))
    }
    return row
  }

  function valueOf({ kind, nullable }: Field, from: Random): Value {
    const value = nullable && from.chance(4) ? null : from.of<Value>(kindOf(kind).value)
    return store === 'memory' ? value : storable(kindOf(kind).as, value)
  }

  function keyValues(node: Node, from: Random): Record<string, Value> | undefined {
    const { key } = node.root
    const own = (target: Node): Row | undefined => from.pick(rowsOf(target))
    if (key === 'view') return undefined
    if (key === 'link') {
      const [owner, other] = [own(node.ones[0]!.target), own(node.ones[1]!.target)]
      return owner && other && { owner, other }
    }
    if (key === 'tenant') return { id: from.below(30) + 1 }
    if (key === 'room' || key === 'desk') {
      const tenant = own(node.ones[0]!.target)
      return tenant && { tenant, [key === 'room' ? 'number' : 'id']: from.below(4) + 1 }
    }
    if (key === 'owner' || key === 'ownerAndNumber') {
      const owner = own(node.root.ones[0]!.target)
      return owner && (key === 'owner' ? { owner } : { owner, number: from.below(4) + 1 })
    }
    return Object.fromEntries(KEY_PARTS[key].map(([name, { type }]) => [name, from.of(PART_VALUES[type]!)]))
  }

  function drawRow(node: Node, from: Random): Row | undefined {
    const keys = keyValues(node, from)
    if (keys === undefined) return undefined
    const row: Row = { of: node.resource, values: { ...keys } }
    const id = keyParts(row).join('\0')
    if (rows.get(node.root)!.some(other => keyParts(other).join('\0') === id)) return undefined
    const { values } = row
    if (node.root.resource.attributes['kind'] !== undefined && node.root.key !== 'link') values['kind'] = node.table
    for (const field of topDown(node, each => each.fields)) values[field.name] = valueOf(field, from)
    if (node.root.defaulted) values['fallback'] = from.below(9)
    if (node.root.versioned) values['version'] = 1
    if (node.root.generated) values['base'] = from.chance(4) ? null : from.below(9) - 4
    if (node.key === 'link') values['weight'] = from.below(3)
    for (const relation of topDown(node, each => each.ones)) {
      if (relation.name in keys) continue
      const target = pickTarget(row, relation, from)
      if (target === undefined) return undefined
      values[relation.name] = target
    }
    for (const { name, target, how, link } of topDown(node, each => each.lists)) {
      if (link !== undefined) continue
      const chosen = from.some(rowsOf(target), 3)
      values[name] = how === 'fixed' ? chosen : chosen.toSorted((a, b) => (String(idOf(a)) < String(idOf(b)) ? -1 : 1))
    }
    return derive(row)
  }

  /** Whom a row may link: of the same tenant, and not taken where it is unique. `undefined`: it must, and cannot. */
  function pickTarget(row: Row, { name, target, how, nullable }: One, from: Random): Row | null | undefined {
    if (nullable && from.chance(4)) return null
    const holders = how === 'unique' ? rows.get(nodeOf(row).root)!.filter(other => other !== row) : []
    const free = rowsOf(target).filter(
      other =>
        !holders.some(holder => holder.values[name] === other) &&
        (target.key !== 'room' || other.values['tenant'] === row.values['tenant']),
    )
    return from.pick(free) ?? (nullable ? null : undefined)
  }

  const body = (row: Row): Record<string, Json> => {
    const node = nodeOf(row)
    const made: Record<string, Json> = {}
    for (const [name, attribute] of Object.entries(row.of.attributes)) {
      const value = row.values[name] ?? null
      if (attribute.kind === 'one') {
        if (topDown(node, each => each.ones).some(each => each.name === name)) made[name] = value === null ? null : idOf(value as Row)
      } else if (attribute.kind === 'many') {
        const list = topDown(node, each => each.lists).find(each => each.name === name)
        if (list !== undefined && list.link === undefined) made[name] = (value as Row[]).map(idOf)
      } else if (!['twice', 'negative', 'version'].includes(name)) made[name] = bodyOf(attribute, value)
    }
    if (node.root.hidden) made['secret'] = 'hidden'
    return made
  }

  const model: Model = {
    entities: drafts.map(({ entity }) => entity),
    nodes,
    world,
    rows,
    nodeOf,
    lineage,
    classesOf,
    fieldsOf: node => topDown(node, each => each.fields),
    onesOf: node => topDown(node, each => each.ones),
    listsOf: node => topDown(node, each => each.lists),
    inversesOf: node => topDown(node, each => each.inverses),
    draw: drawRow,
    valueOf,
    target: pickTarget,
    body,
  }
  const counts = new Map(rootDrafts.map((root, index) => [root.node, shapes[index]!.rows]))
  for (const node of nodes.filter(each => each.parent === undefined && each.key !== 'view')) {
    const classes = classesOf(node)
    const count = counts.get(node) ?? 3
    // One of each class first, so that whoever must link one of them can.
    for (let made = 0; made < Math.max(count, classes.length); made++) {
      const row = drawRow(classes[made] ?? random.pick(classes)!, random)
      if (row !== undefined) rows.get(node)!.push(row)
    }
  }
  // Whoever may link anybody has so far linked those before.
  for (const row of [...rows.values()].flat()) {
    for (const relation of model.onesOf(nodeOf(row))) {
      if (!relation.nullable || !random.chance(2)) continue
      row.values[relation.name] = pickTarget(row, relation, random) ?? null
    }
    for (const list of model.listsOf(nodeOf(row))) {
      if (list.link === undefined && random.chance(2)) row.values[list.name] = random.some(rowsOf(list.target), 3)
    }
  }
  return model

  function one(target: () => Resource, nullable: boolean): RelationAttribute {
    return { kind: 'one', target, nullable }
  }
  function many(target: () => Resource): RelationAttribute {
    return { kind: 'many', target, nullable: false }
  }
}

/** A virtual entity has no key. */
function virtualPart({ type }: PlainAttribute): unknown {
  return type === 'uuid' ? p.uuid() : type === 'text' ? p.string() : type === 'date' ? p.date() : p.integer()
}
