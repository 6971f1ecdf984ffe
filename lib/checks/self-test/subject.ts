/** A resource under test, with its paths, described operations and first records. */
import type { CompiledTemplate } from '../../foundation/http/envelope-template.ts'
import { idNames } from '../../model/key.ts'
import type { Conformity, DescribedOperation } from '../../description/conformity/conformity.ts'
import { isIds, plainIds } from '../../model/ids-name.ts'
import type { Attribute, Model, Resource } from '../../model/model.ts'
import { formatRoot } from '../../records/request/address.ts'
import { SIGN_OF_MARK, type OperatorMark } from '../../records/request/operators.ts'
import { findParameterName, vocabularyOf, type Vocabulary } from '../../records/request/query-string.ts'
import type { Reserved } from '../../records/request/reserved-parameters.ts'
import { Random } from '../../engine/testing/random.ts'
import type { Case } from './probe.ts'
import { findId, type PlainRecord } from './values.ts'

export interface TestedVersion {
  readonly name: string
  readonly base: string
  readonly model: Model
  readonly vocabulary: Vocabulary
  readonly maxLimit: number
  /** For bodies and answers (option `envelope`). */
  readonly template: CompiledTemplate | undefined
  /** With filters through a single relation. */
  readonly document: Conformity
}

/** Records of the largest page asked for. */
export const LARGEST_PAGE = 200

export interface ListedFilter {
  /** Without the `=`: `age>`. */
  readonly parameter: string
  /** Without the operator, and without the trailing `_` of `limit_`. */
  readonly path: readonly string[]
  readonly mark: OperatorMark
}

export class Subject {
  readonly version: TestedVersion
  readonly resource: Resource
  /** Without the base. */
  readonly template: string
  readonly path: string
  /** The first page. */
  records: readonly PlainRecord[] = []
  /** Undefined: the list cannot be read. */
  count: number | undefined

  constructor(version: TestedVersion, resource: Resource) {
    this.version = version
    this.resource = resource
    this.template = `${formatRoot('', version.name)}/${encodeURIComponent(resource.plural)}`
    this.path = version.base + this.template
  }

  get recordTemplate(): string {
    return this.resource.rules.single === undefined ? `${this.template}/{id}` : this.template
  }

  get hasList(): boolean {
    return this.resource.rules.single === undefined && this.operation('GET', this.template) !== undefined
  }

  async load(test: Case): Promise<void> {
    if (!this.hasList) return
    const answer = await test.read(this.list({}, { depth: 1, limit: LARGEST_PAGE }))
    const page = answer === undefined ? undefined : this.recordsIn(answer.body)
    if (page === undefined) return
    this.records = page
    this.count = (answer!.body as { readonly count: number }).count
  }

  operation(method: string, template: string): DescribedOperation | undefined {
    return this.version.document.operations.find(each => each.method === method && each.template === template)
  }

  /** Names the resource or attribute in a failure. */
  name(attribute?: string): string {
    return attribute === undefined ? this.resource.plural : `${this.resource.plural}.${attribute}`
  }

  /** Writes the path of a list; reserved parameters have the application's names. */
  list(
    filters: Readonly<Record<string, string>>,
    reserved: Readonly<Partial<Record<Reserved, string | number>>>,
    path = this.path,
  ): string {
    const isWhole = path === this.path && Object.keys(filters).length === 0
    return this.#write(path, isWhole ? this.#everything() : filters, reserved)
  }

  creation(reserved: Readonly<Partial<Record<Reserved, string | number>>>): string {
    return this.#write(this.path, {}, reserved)
  }

  #write(path: string, filters: Readonly<Record<string, string>>, reserved: Readonly<Partial<Record<Reserved, string | number>>>): string {
    const pairs = [
      ...Object.entries(filters),
      ...Object.entries(reserved).map(([name, value]): [string, string] => [this.parameter(name as Reserved), String(value)]),
    ]
    if (pairs.length === 0) return path
    return `${path}?${pairs.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&')}`
  }

  /** Meets every record, to turn off a list's default filter. */
  #everything(): Readonly<Record<string, string>> {
    const [name] = this.resource.keyNames
    return this.resource.rules.defaults?.filter === undefined || name === undefined ? {} : { [`${name}!`]: 'null' }
  }

  /** To the record in a body. */
  get bodyPath(): readonly string[] {
    return this.version.template?.pathOf('record', this.resource) ?? []
  }

  wrap(record: unknown): unknown {
    const { template } = this.version
    return template === undefined ? record : template.wrap(record, this.resource)
  }

  parameter(reserved: Reserved): string {
    return findParameterName(this.version.vocabulary, reserved)
  }

  /** @returns undefined if the record hides its key */
  record(record: PlainRecord): string | undefined {
    if (this.resource.rules.single !== undefined) return this.path
    const id = findId(record, this.resource)
    if (id === undefined || id === '') return undefined
    return `${this.path}/${idNames(this.resource).length === 1 ? encodeURIComponent(id) : id}`
  }

  /** @returns undefined if a wrapper has answered without records */
  recordsIn(body: unknown): readonly PlainRecord[] | undefined {
    const records = (body as Readonly<Record<string, unknown>> | undefined)?.[this.resource.plural]
    return Array.isArray(records) ? (records as PlainRecord[]) : undefined
  }

  recordIn(body: unknown): PlainRecord | undefined {
    const envelope = body as Readonly<Record<string, unknown>> | undefined
    const record = envelope?.[typeof envelope['resource'] === 'string' ? envelope['resource'] : this.resource.singular]
    return typeof record === 'object' && record !== null && !Array.isArray(record) ? (record as PlainRecord) : undefined
  }

  filters(): ListedFilter[] {
    const { document } = this.version
    const vocabulary = vocabularyOf(this.version.vocabulary, this.resource.plural)
    const parameters = (this.operation('GET', this.template)?.node['parameters'] ?? []) as readonly Readonly<Record<string, unknown>>[]
    return parameters.flatMap((each): ListedFilter[] => {
      const { name, in: place } = document.resolve(each) as { readonly name: string; readonly in: string }
      if (place !== 'query' || vocabulary.names.has(name)) return []
      const last = name.at(-1) ?? ''
      const mark = Object.hasOwn(SIGN_OF_MARK, last) ? (last as OperatorMark) : ''
      const written = name.slice(0, name.length - mark.length)
      const [first = '', ...rest] = written.split('.')
      const own = this.resource.byName.has(first) ? first : first.replace(/_$/, '')
      return this.resource.byName.has(own) ? [{ parameter: name, path: [own, ...rest], mark }] : []
    })
  }

  find(path: readonly string[]): Attribute | undefined {
    let names: ReadonlyMap<string, Attribute> = this.resource.byName
    let found: Attribute | undefined
    for (const name of path) {
      found = names.get(name)
      names = found?.kind === 'embedded' ? found.byName : found?.kind === 'toOne' ? found.target.byName : new Map()
    }
    return found?.kind === 'toOne' && isIds(found) ? plainIds(found) : found
  }
}

/** Random numbers of a part of the test, independent of other parts. */
export function chance(seed: number, ...names: readonly (string | number)[]): Random {
  return new Random(`self-test/${seed}/${names.join('/')}`)
}

export function draw<T>(random: Random, list: readonly T[], count: number): T[] {
  const left = [...list]
  return Array.from({ length: Math.min(count, left.length) }, () => left.splice(random.between(0, left.length - 1), 1)[0]!)
}
