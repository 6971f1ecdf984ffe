/**
 * Turns a condition of MikroORM, such as `{ age: { $gt: 5 } }`, into a Condition, for scopes, entity filters, custom parameters and wires.
 * As in SQL, NULL is neither equal nor unequal to anything. Errors for the application are plain, for clients parameter_invalid.
 */
import { Reference } from '@mikro-orm/core'
import type { Attribute, RelationAttribute, Resource, ScalarAttribute, ToOneAttribute, ToOneOfAttribute } from '../../model/model.ts'
import { isContainment, readContainment, weigh } from './containment.ts'
import { isEntity, keyValues, typedValue } from './given-values.ts'
import type { Condition, KeyRef, Operand, ValueRef } from '../plan/read-plan.ts'
import { all, any, certain, complement, isNull, not, unlessNull, type TernaryCondition } from './ternary-condition.ts'
import { parameterError } from '../../foundation/errors/errors.ts'
import type { Limits } from '../../foundation/base/limits.ts'
import { MAX_LEVELS, MAX_PARTS } from '../request/filter-groups.ts'
import { isVisible, visibleNames, type Visibility } from '../plan/visibility.ts'
import { expressions } from '../../foundation/expressions/load-expressions.ts'
import { isText, type ScalarType } from '../../foundation/values/scalar-type.ts'
import { formatHint, findNearest } from '../../foundation/base/suggest.ts'

/** Of clients: conditions have public names of visible attributes. */
interface CallerLimits {
  readonly visibility: Visibility
  readonly limits: Limits
  /** Values of earlier conditions. */
  readonly values: readonly unknown[]
}

type RefusalCode = 'value_invalid' | 'operator_invalid' | 'expression_invalid'

export class FilterQueryReader {
  readonly values: unknown[]
  /** Undefined: the application, allowed every property. */
  readonly #caller: CallerLimits | undefined
  #parts = 0
  #level = 0
  readonly #of: Resource | undefined
  readonly #isOfModel: boolean
  /** The condition without values, as a cache key. */
  shape = ''

  /** @param of the resource of a scope; 'model' for a condition with fixed values; undefined for custom parameters and wires */
  constructor(of: Resource | 'model' | undefined, caller?: CallerLimits) {
    this.#caller = caller
    this.values = [...(caller?.values ?? [])]
    this.#isOfModel = of === 'model'
    this.#of = of === 'model' ? undefined : of
  }

  /** @throws Error that begins with `where` */
  read(query: unknown, resource: Resource, where: string): Condition {
    this.shape += where
    return this.#object(query, resource.attributes, [], where).holds
  }

  #object(query: unknown, attributes: readonly Attribute[], hops: readonly ToOneAttribute[], where: string): TernaryCondition {
    if (Array.isArray(query)) return all(this.#each(query, attributes, hops, where))
    if (typeof query !== 'object' || query === null || Object.getPrototypeOf(query) !== Object.prototype) {
      throw this.#wrong(where, `a condition must be a plain object of properties, got ${query === null ? 'null' : typeof query}.`)
    }
    if (Object.getOwnPropertySymbols(query).length > 0)
      throw this.#wrong(where, 'a condition in SQL (raw, sql) is not supported here, only one of properties.')
    this.#descend(where)
    this.shape += '{'
    const parts: TernaryCondition[] = []
    for (const [name, given] of Object.entries(query) as [string, unknown][]) {
      // Undefined means NULL: without a user, `{ owner: user?.id }` must not hold for all rows.
      const value = given ?? null
      this.shape += `${name}:`
      if (name === '$and' || name === '$or') {
        if (!Array.isArray(value)) throw this.#wrong(where, `${name} must be an array.`)
        const members = this.#each(value, attributes, hops, where)
        parts.push(name === '$and' ? all(members) : any(members))
      } else if (name === '$not') parts.push(not(this.#object(value, attributes, hops, where)))
      else parts.push(this.#property(this.#find(name, attributes, where), value, hops, `${where}.${name}`))
    }
    this.shape += '}'
    this.#level--
    return all(parts)
  }

  #descend(where: string): void {
    this.#enter(++this.#level, where)
  }

  #enter(level: number, where: string): void {
    this.#count(1, where)
    if (this.#caller !== undefined && level > MAX_LEVELS) throw this.#tooLarge(where, `deeper than ${MAX_LEVELS} levels`)
  }

  #count(parts: number, where: string): void {
    this.#parts += parts
    if (this.#caller !== undefined && this.#parts > MAX_PARTS) throw this.#tooLarge(where, `of more than ${MAX_PARTS} parts`)
  }

  #tooLarge(where: string, what: string): Error {
    return parameterError({ code: 'limit_exceeded', detail: `The condition is ${what}.`, parameter: where.slice(0, 100) })
  }

  /** @throws Error for a name that the condition may not use */
  #find(name: string, attributes: readonly Attribute[], where: string): Attribute {
    if (this.#caller === undefined) return findAttribute(name, attributes, where)
    const { visibility } = this.#caller
    const attribute = attributes.find(each => each.name === name && isVisible(each, visibility))
    if (attribute === undefined) {
      const suggestion = findNearest(name, visibleNames(attributes, visibility))
      const detail = `There is no attribute "${name.slice(0, 100)}" to filter by.${formatHint(suggestion)}`
      throw parameterError({
        code: 'attribute_unknown',
        detail,
        parameter: `${where}.${name}`.slice(0, 200),
        ...(suggestion === undefined ? {} : { suggestion }),
      })
    }
    if (!attribute.filterable)
      throw parameterError({ code: 'not_filterable', detail: `"${name}" cannot be filtered by.`, parameter: `${where}.${name}` })
    return attribute
  }

  #wrong(where: string, what: string, code: RefusalCode = 'value_invalid'): Error {
    // A client has sent the parameter's expression.
    if (this.#caller === undefined && code === 'expression_invalid' && where.startsWith('parameter "'))
      return parameterError({ code, detail: `The ${where} cannot be read: ${what}`, parameter: where.split('"')[1]! })
    if (this.#caller === undefined) return new Error(`${where}: ${what}`)
    return parameterError({
      code,
      detail: `The condition cannot be read at "${where.slice(0, 200)}": ${what}`,
      parameter: where.slice(0, 200),
    })
  }

  #each(query: readonly unknown[], attributes: readonly Attribute[], hops: readonly ToOneAttribute[], where: string): TernaryCondition[] {
    this.shape += '['
    const parts = query.map(part => this.#object(part, attributes, hops, where))
    this.shape += ']'
    return parts
  }

  #property(attribute: Attribute, value: unknown, hops: readonly ToOneAttribute[], where: string): TernaryCondition {
    this.#count(1, where)
    if (attribute.kind === 'scalar') return this.#scalar(attribute, value, { hops, attribute }, where)
    if (attribute.kind === 'embedded') {
      if (attribute.array) throw this.#wrong(where, 'a list of objects cannot be filtered by.')
      return this.#object(value, attribute.attributes, hops, where)
    }
    return attribute.kind === 'toOneOf' ? this.#polymorphic(attribute, value, hops, where) : this.#relation(attribute, value, hops, where)
  }

  /** Takes an entity or `[discriminator, key]`. */
  #polymorphic({ branches }: ToOneOfAttribute, value: unknown, hops: readonly ToOneAttribute[], where: string): TernaryCondition {
    const empty: Condition = { kind: 'all', of: branches.map(relation => ({ kind: 'unlinked', hops, relation })) }
    if (value === null) {
      this.shape += 'null '
      return certain(empty)
    }
    const entity = typeof value === 'object' && !Array.isArray(value) && isEntity(value) ? Reference.unwrapReference(value) : undefined
    const [discriminated, ...key] = Array.isArray(value) ? (value as unknown[]) : []
    const relation = branches.find(({ target, discriminator }) =>
      entity === undefined ? discriminator.value === discriminated : entity instanceof (target.entity as new () => object),
    )
    if (relation === undefined) {
      const values = branches.map(({ discriminator }) => JSON.stringify(discriminator.value)).join(', ')
      throw this.#wrong(where, `a relation to one of several entities takes null, an entity, or [discriminator (one of ${values}), key].`)
    }
    this.shape += `${JSON.stringify(relation.discriminator.value)} `
    return unlessNull({ kind: 'linked', hops, relation, keys: [this.#keyRef(entity ?? key, relation.target, where)] }, () => empty)
  }

  #ref(value: unknown, type: ScalarType, where: string): ValueRef {
    const typed = typedValue(value, type)
    if (typed === undefined) throw this.#wrong(where, `the value cannot be of the type ${type.kind}.`)
    if (this.#isOfModel) return { from: 'model', value: typed, type }
    return { from: 'scope', of: this.#of, index: this.values.push(typed) - 1, type }
  }

  #keyRef(value: unknown, resource: Resource, where: string): KeyRef {
    const key = keyValues(value, resource)
    if (key === undefined) throw this.#wrong(where, `not a key of ${this.#caller === undefined ? resource.className : resource.plural}.`)
    return this.#isOfModel ? { from: 'model', key, resource } : { from: 'scope', of: this.#of, index: this.values.push(key) - 1, resource }
  }

  /** `{ meta: { color: 'red' } }`. `5` and `'5'` compare alike. */
  #within(json: ScalarAttribute, name: string, value: unknown, operand: Operand, where: string): TernaryCondition {
    if (name === '' || /["\\\0]/.test(name)) throw this.#wrong(where, `the key ${JSON.stringify(name.slice(0, 100))} cannot be named here.`)
    const { source } = json
    const names = source.kind === 'within' ? [...source.names, name] : [name]
    const most = this.#caller?.limits.maxJsonNames ?? Infinity
    if (names.length > most) throw this.#tooLarge(where, `with more than ${most} names inside of JSON`)
    const within = source.kind === 'within' ? source.json : json
    const attribute: ScalarAttribute = { ...json, type: { kind: 'jsonValue' }, source: { kind: 'within', json: within, names } }
    this.shape += `${JSON.stringify(name)}>`
    return this.#scalar(attribute, value, { ...operand, attribute }, `${where}.${name}`)
  }

  #scalar(attribute: ScalarAttribute, value: unknown, operand: Operand, where: string): TernaryCondition {
    if (value === null || typeof value !== 'object' || value instanceof Date || value instanceof Uint8Array)
      return this.#isAnyOf([value], attribute.type, operand, where)
    if (value instanceof RegExp) return this.#regExp(value, operand, where)
    if (Array.isArray(value)) return this.#isAnyOf(value, attribute.type, operand, where)
    this.#descend(where)
    this.shape += '{'
    const isJson = isWithinReach(attribute)
    const parts = Object.entries(value).map(([operator, given]: [string, unknown]) => {
      if (isJson && !operator.startsWith('$')) return this.#within(attribute, operator, given ?? null, operand, where)
      this.shape += operator
      return this.#compareScalar(operator, given ?? null, attribute, operand, where)
    })
    this.shape += '}'
    this.#level--
    return all(parts)
  }

  #compareScalar(operator: string, given: unknown, attribute: ScalarAttribute, operand: Operand, where: string): TernaryCondition {
    const { type } = attribute
    switch (operator) {
      case '$eq':
        return this.#isAnyOf([given], type, operand, where)
      case '$in':
        return this.#isAnyOf(this.#list(given, where), type, operand, where)
      case '$ne':
        return not(this.#isAnyOf([given], type, operand, where))
      case '$nin':
        return not(this.#isAnyOf(this.#list(given, where), type, operand, where))
      case '$gt':
      case '$gte':
      case '$lt':
      case '$lte': {
        const sign = ({ $gt: '>', $gte: '>=', $lt: '<', $lte: '<=' } as const)[operator]
        return unlessNull({ kind: 'compare', operand, operator: sign, value: this.#ref(given, type, where) }, () => isNull(operand))
      }
      case '$like':
      case '$ilike': {
        if (this.#caller !== undefined && !isText(type)) throw this.#wrong(where, `"${operator}" compares texts.`, 'operator_invalid')
        const value = this.#ref(given, { kind: 'text' }, where)
        return unlessNull({ kind: 'like', operand, fold: operator === '$ilike', value }, () => isNull(operand))
      }
      case '$re':
      case '$ire':
        return this.#expression(given, operator === '$ire', operand, where)
      case '$exists':
        this.shape += String(given)
        return given === false ? certain(isNull(operand)) : not(certain(isNull(operand)))
      case '$not':
        return not(this.#scalar(attribute, given, operand, where))
      default:
        if (isContainment(operator)) return this.#contains(operator, given, operand, where)
        throw this.#unknownOperator(operator, where)
    }
  }

  /** The text between slashes is for the database, as in MikroORM. */
  #regExp({ source, flags }: RegExp, operand: Operand, where: string): TernaryCondition {
    if (flags !== '' && flags !== 'i') throw this.#wrong(where, `a regular expression has the flag "i", or none; not "${flags}".`)
    this.shape += flags === 'i' ? '$ire' : '$re'
    return this.#expression(source, flags === 'i', operand, where)
  }

  #expression(given: unknown, fold: boolean, operand: Operand, where: string): TernaryCondition {
    const { type } = operand.attribute
    if (this.#caller !== undefined && !isText(type)) throw this.#wrong(where, 'a regular expression matches texts.', 'operator_invalid')
    if (typeof given !== 'string') throw this.#wrong(where, 'a regular expression is a string.')
    expressions().parse(given, what => this.#wrong(where, `invalid regular expression: ${what}.`, 'expression_invalid'))
    return unlessNull({ kind: 'expression', operand, fold, value: this.#ref(given, { kind: 'text' }, where) }, () => isNull(operand))
  }

  #contains(operator: string, given: unknown, operand: Operand, where: string): TernaryCondition {
    weigh(given, level => this.#enter(this.#level + level, where))
    const { how, text } = readContainment(operator, given, operand.attribute, (what, code) => this.#wrong(where, what, code))
    return unlessNull({ kind: 'contains', how, operand, value: this.#ref(text, { kind: 'text' }, where) }, () => isNull(operand))
  }

  #unknownOperator(name: string, where: string): Error {
    return this.#wrong(where, `the operator "${name.slice(0, 100)}" is not supported here.`, 'operator_invalid')
  }

  #list(value: unknown, where: string): readonly unknown[] {
    if (Array.isArray(value)) return value
    throw this.#wrong(where, 'the operator takes an array.')
  }

  #checkLength({ length }: readonly unknown[], where: string): void {
    const most = this.#caller?.limits.maxListValues ?? Infinity
    if (length > most) throw this.#tooLarge(where, `with a list of more than ${most} values`)
  }

  #isAnyOf(list: readonly unknown[], type: ScalarType, operand: Operand, where: string): TernaryCondition {
    this.#checkLength(list, where)
    const values: ValueRef[] = []
    for (const item of list) if (item !== null) values.push(this.#ref(item, type, where))
    this.shape += `in${values.length}${values.length < list.length ? '?' : ''} `
    const parts: TernaryCondition[] = []
    if (values.length > 0) parts.push(unlessNull({ kind: 'in', operand, values }, () => isNull(operand)))
    if (values.length < list.length) parts.push(certain(isNull(operand)))
    return any(parts)
  }

  #relation(relation: RelationAttribute, value: unknown, hops: readonly ToOneAttribute[], where: string): TernaryCondition {
    const { target } = relation
    const other = relation.kind === 'toOne' && relation.owner ? relation.targetKey : undefined
    // As in MikroORM, a bare value is the foreign key's.
    if (relation.kind === 'toOne' && other !== undefined && isBare(value)) {
      const attribute = target.attributes.find(({ property }) => property === other.property) as ScalarAttribute
      return this.#scalar(attribute, value, { hops: [...hops, relation], attribute }, where)
    }
    if (Array.isArray(value))
      return this.#linksAnyOf(target.key.length > 1 && !Array.isArray(value[0]) ? [value] : value, relation, hops, where)
    if (value === null || typeof value !== 'object' || isEntity(value)) return this.#linksAnyOf([value], relation, hops, where)
    const entries = Object.entries(value as Record<string, unknown>)
    const operators = entries.filter(([name]) => name.startsWith('$') && !['$and', '$or', '$not'].includes(name))
    if (operators.length === 0) return this.#related(relation, value, hops, where)
    if (operators.length < entries.length) throw this.#wrong(where, 'operators and properties cannot be mixed here.')
    this.shape += '{'
    const parts = operators.map(([operator, given]) => {
      this.shape += operator
      return this.#compareRelation(operator, given ?? null, relation, hops, where)
    })
    this.shape += '}'
    return all(parts)
  }

  #compareRelation(
    operator: string,
    given: unknown,
    relation: RelationAttribute,
    hops: readonly ToOneAttribute[],
    where: string,
  ): TernaryCondition {
    switch (operator) {
      case '$eq':
        return this.#linksAnyOf([given], relation, hops, where)
      case '$in':
        return this.#linksAnyOf(this.#list(given, where), relation, hops, where)
      case '$ne':
        return not(this.#linksAnyOf([given], relation, hops, where))
      case '$nin':
        return not(this.#linksAnyOf(this.#list(given, where), relation, hops, where))
      case '$some':
        return this.#related(relation, given, hops, where)
      case '$none':
        return not(this.#related(relation, given, hops, where))
      case '$every':
        return certain(complement(this.#someNot(relation, given, hops, where)))
      default:
        throw this.#unknownOperator(operator, where)
    }
  }

  /** Null means an empty link. */
  #linksAnyOf(list: readonly unknown[], relation: RelationAttribute, hops: readonly ToOneAttribute[], where: string): TernaryCondition {
    const present = list.filter(item => item !== null)
    this.#checkLength(list, where)
    const { shownKey } = relation.target
    if (this.#caller !== undefined && shownKey !== undefined && present.length > 0) {
      const name = relation.target.attributes.find(({ property }) => property === shownKey.property)!.name
      const linked = this.#related(relation, { [name]: { $in: present } }, hops, where)
      return present.length === list.length ? linked : any([linked, this.#linksAnyOf([null], relation, hops, where)])
    }
    this.shape += `in${present.length}${present.length < list.length ? '?' : ''} `
    const keys = present.map(item => this.#keyRef(item, relation.target, where))
    const empty: Condition =
      relation.kind === 'toOne' ? { kind: 'unlinked', hops, relation } : complement({ kind: 'some', hops, relation, where: undefined })
    const parts: TernaryCondition[] = []
    if (keys.length > 0 && relation.kind === 'toOne') parts.push(unlessNull({ kind: 'linked', hops, relation, keys }, () => empty))
    if (keys.length > 0 && relation.kind === 'toMany') parts.push(certain({ kind: 'some', hops, relation, where: { kind: 'key', keys } }))
    if (present.length < list.length) parts.push(certain(empty))
    return any(parts)
  }

  #related(relation: RelationAttribute, value: unknown, hops: readonly ToOneAttribute[], where: string): TernaryCondition {
    if (relation.kind === 'toOne') return this.#object(value, relation.target.attributes, [...hops, relation], where)
    return certain({ kind: 'some', hops, relation, where: this.#object(value, relation.target.attributes, [], where).holds })
  }

  #someNot(relation: RelationAttribute, value: unknown, hops: readonly ToOneAttribute[], where: string): Condition {
    if (relation.kind === 'toOne') throw this.#wrong(where, '$every goes with lists only.')
    return { kind: 'some', hops, relation, where: this.#object(value, relation.target.attributes, [], where).fails() }
  }
}

function findAttribute(name: string, attributes: readonly Attribute[], where: string): Attribute {
  for (const attribute of attributes) if (attribute.property === name) return attribute
  const names = attributes.map(({ property }) => property)
  throw new Error(`${where}: there is no property "${name}".${formatHint(findNearest(name, names))}`)
}

/** Whether conditions reach inside. */
function isWithinReach({ type, source }: ScalarAttribute): boolean {
  if (type.kind === 'jsonValue') return true
  return type.kind === 'json' && type.codec === undefined && source.kind !== 'getter' && source.kind !== 'none'
}

/** Whether the condition compares the foreign key, not properties of the linked record. */
function isBare(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isBare)
  if (typeof value !== 'object' || value === null || value instanceof Date) return true
  if (isEntity(value)) return false
  const entries = Object.entries(value)
  const compares = (name: string): boolean =>
    ['$eq', '$ne', '$in', '$nin', '$gt', '$gte', '$lt', '$lte', '$like', '$ilike', '$re', '$ire', '$exists'].includes(name)
  return entries.length > 0 && entries.every(([name, given]) => compares(name) && isBare(given))
}
