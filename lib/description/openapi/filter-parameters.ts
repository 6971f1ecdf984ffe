/** Describes filters as parameters such as `age>`: clients append the `=`. */
import { idNames } from '../../model/key.ts'
import { isIds, plainIds } from '../../model/ids-name.ts'
import type { Attribute, Resource, ScalarAttribute } from '../../model/model.ts'
import { isVisible } from '../../records/plan/visibility.ts'
import { OPERATORS, type ListedSign } from '../../records/request/operators.ts'
import { vocabularyOf } from '../../records/request/query-string.ts'
import { isText, type ScalarType } from '../../foundation/values/scalar-type.ts'
import { pascalCase } from './components.ts'
import { withIds } from './record-schemas.ts'
import type { Schema } from './schema.ts'
import { Describer } from './describer.ts'

interface FilterForm {
  /** The operator without the final `=`. */
  readonly mark: string
  readonly suffix: string
  readonly meaning: string
  /** Whether the operator takes a single value, not a list. */
  readonly isBound: boolean
}

const WORDS: { readonly [sign in ListedSign]: readonly [suffix: string, meaning: string] } = {
  '=': ['Is', 'Equal, or any of a list.'],
  '!=': ['IsNot', 'Neither equal nor any of a list.'],
  '~=': ['IsLike', 'Equal without regard to case, or any of a list.'],
  '~~=': ['IsNearly', 'Equal without regard to case and accents.'],
  '>=': ['AtLeast', 'At least.'],
  '<=': ['AtMost', 'At most.'],
}

function createForm(sign: ListedSign): FilterForm {
  const [suffix, meaning] = WORDS[sign]
  return { mark: sign.slice(0, -1), suffix, meaning, isBound: 'compares' in OPERATORS[sign] && OPERATORS[sign].compares === 'order' }
}

const EQUAL = createForm('=')
const OTHER = createForm('!=')
const ALIKE = createForm('~=')
const LEAST = createForm('>=')
const MOST = createForm('<=')

/** Types with `>=` and `<=`, rare for text and UUID. */
const RANGED = new Set(['integer', 'bigint', 'float', 'decimal', 'datetime', 'date', 'time'])

interface FilteredPath {
  readonly path: string
  readonly end: Attribute
  readonly isOwn: boolean
}

export class FilterParameters extends Describer {
  /** Cached: each relation adds a list with the same filters. */
  readonly #made = new Map<Resource, readonly Schema[]>()

  refer(resource: Resource): readonly Schema[] {
    const known = this.#made.get(resource)
    if (known !== undefined) return known
    const made = this.#make(resource)
    this.#made.set(resource, made)
    return made
  }

  #make(resource: Resource): readonly Schema[] {
    const { hops } = this.options.filters
    if (hops === undefined) return []
    const paths = this.#paths(withIds(resource), '', hops, true).map(found => ({
      ...found,
      path: this.#written(found.path, resource),
    }))
    return paths.flatMap(found => listForms(found).map(form => this.#parameter(found, form)))
  }

  #paths(attributes: readonly Attribute[], prefix: string, hops: number, isOwn: boolean): FilteredPath[] {
    return attributes.flatMap((attribute): FilteredPath[] => {
      if (!attribute.filterable || !isVisible(attribute, this.visibility) || !isSpeakable(attribute.name)) return []
      const path = `${prefix}${attribute.name}`
      const own = { path, end: attribute, isOwn }
      if (attribute.kind === 'embedded') return attribute.array ? [] : this.#paths(attribute.attributes, `${path}.`, hops, isOwn)
      if (isIds(attribute)) return attribute.kind === 'toMany' ? [own] : [{ ...own, end: plainIds(attribute) }]
      if (attribute.kind !== 'toOne' || hops === 0) return [own]
      // `author=1` already compares the key.
      const names = idNames(attribute.target)
      const inside = attribute.target.attributes.filter(({ name }) => !names.includes(name))
      return [own, ...this.#paths(inside, `${path}.`, hops - 1, false)]
    })
  }

  /** An attribute `limit` is filtered by `limit_`. */
  #written(path: string, { byName, plural }: Resource): string {
    const [first = '', ...rest] = path.split('.')
    return vocabularyOf(this.source.vocabulary, plural).names.has(first) && !byName.has(`${first}_`)
      ? [`${first}_`, ...rest].join('.')
      : path
  }

  #parameter({ path, end }: FilteredPath, form: FilterForm): Schema {
    // Otherwise `info.description` explains the operators.
    const explanation = this.options.attributes ? { description: `${form.meaning}${describeValues(end, form)}` } : {}
    const parameter = { name: `${path}${form.mark}`, in: 'query', ...explanation, schema: this.#valueSchema(end, form) }
    return this.components.refer('parameters', `${pascalCase(path)}${form.suffix}`, `filter ${JSON.stringify(parameter)}`, () => parameter)
  }

  #valueSchema(end: Attribute, { isBound }: FilterForm): Schema {
    if (end.kind !== 'scalar') return { type: 'string' }
    return isBound ? boundSchema(end.type) : this.#listSchema(end)
  }

  #listSchema({ type }: ScalarAttribute): Schema {
    const one = this.options.brief || type.loose === true || type.items !== undefined ? undefined : VALUES[type.kind]
    if (one === undefined) return { type: 'string' }
    const pattern = `^(?:null|${one})(?:,(?:null|${one}))*$`
    return this.components.refer('schemas', `FilterBy${pascalCase(type.kind)}`, `filter by ${type.kind}`, () => ({
      type: 'string',
      pattern,
    }))
  }
}

/** Whether a name lacks characters of operators and paths. */
function isSpeakable(name: string): boolean {
  return /^[^.|!<>=~&]+$/.test(name)
}

/** On related records `!=` is rare and would double the list. */
function listForms({ end, isOwn }: FilteredPath): FilterForm[] {
  const equal = isOwn ? [EQUAL, OTHER] : [EQUAL]
  if (end.kind !== 'scalar') return equal
  const { kind, items } = end.type
  if (kind === 'blob' || kind === 'array') return []
  if (RANGED.has(kind) && items === undefined) return [...equal, LEAST, MOST]
  return isText(end.type) && items === undefined ? [...equal, ALIKE] : equal
}

function describeValues(end: Attribute, { isBound }: FilterForm): string {
  if (isBound) return end.nullable ? ' NULL is not.' : ''
  if (end.kind === 'toMany') return ' Takes IDs: some record of the list must be one of them. `null` means an empty list.'
  if (end.kind === 'toOne') return ` Takes IDs${end.nullable ? ', and `null`' : ''}.`
  if (end.kind === 'toOneOf') return ' Takes IDs with the name of their resource and a colon before them, and `null`.'
  const wild = end.kind === 'scalar' && isText(end.type) && end.type.items === undefined ? ' `*` stands for any characters.' : ''
  return `${wild}${end.nullable ? ' `null` is NULL.' : ''}`
}

function boundSchema({ kind, loose }: ScalarType): Schema {
  if (loose === true) return { type: 'string' }
  if (kind === 'integer' || kind === 'bigint') return { type: 'integer' }
  if (kind === 'float' || kind === 'decimal') return { type: 'number' }
  if (kind === 'datetime') return { type: 'string', format: 'date-time' }
  return kind === 'date' ? { type: 'string', format: 'date' } : { type: 'string' }
}

const VALUES: Readonly<Partial<Record<ScalarType['kind'], string>>> = {
  integer: '0|-?[1-9]\\d{0,15}',
  bigint: '0|-?[1-9]\\d{0,18}',
  boolean: 'true|false|1|0',
  date: '\\d{4}-\\d\\d-\\d\\d',
  uuid: '[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}',
}
