/**
 * The application's form of answers, by the option `envelope`: `{ data: 'records', total: 'count' }`. Refuses an invalid template with
 * TypeError.
 */
import { findNearest, formatHint } from '../base/suggest.ts'
import { HOLES, nameKeys, readTemplate, TEMPLATE_PARTS } from './template-tree.ts'
import type { ListPart, Part, Parts, RecordPart, RemovedPart, TemplateNames, Tree, TemplateKind } from './template-tree.ts'

/** Parts of answers by key. Keys may hold `{plural}` and `{singular}`. */
export interface EnvelopeTemplate<P extends string = Part> {
  readonly [key: string]: P | EnvelopeTemplate<P>
}

/** Templates of answers; `'bare'`: records alone. */
export interface EnvelopeTemplates {
  readonly list?: EnvelopeTemplate<ListPart> | 'bare'
  readonly record?: EnvelopeTemplate<RecordPart> | 'bare'
  readonly removed?: EnvelopeTemplate<RemovedPart> | 'bare'
}

export class CompiledTemplate {
  /** Undefined: records alone. */
  readonly tree: Tree | undefined
  readonly parts: ReadonlySet<Part>
  readonly #named = new Map<string, Tree>()

  constructor(tree: Tree | undefined, kind: TemplateKind) {
    this.tree = tree
    this.parts = new Set(tree === undefined ? [kind === 'list' ? 'records' : 'record'] : listParts(tree))
  }

  get isBare(): boolean {
    return this.tree === undefined
  }

  build(names: TemplateNames, parts: Parts): Record<string, unknown> {
    return buildTree(this.named(names), parts)
  }

  named({ plural, singular }: TemplateNames): Tree {
    const key = `${plural}\0${singular}`
    let tree = this.#named.get(key)
    if (tree === undefined) this.#named.set(key, (tree = nameKeys(this.tree!, { plural, singular })))
    return tree
  }

  pathOf(part: Part, names: TemplateNames): readonly string[] | undefined {
    if (this.tree === undefined) return this.parts.has(part) ? [] : undefined
    return findPath(this.named(names), part)
  }

  /** `{ user: record }`, for a write. */
  wrap(record: unknown, names: TemplateNames): unknown {
    return (this.pathOf('record', names) ?? []).reduceRight<unknown>((inside, key) => ({ [key]: inside }), record)
  }

  read(body: unknown): Parts | undefined {
    if (this.tree === undefined) return body === undefined ? undefined : { [[...this.parts][0]!]: body }
    return readTemplate(this.tree, body)
  }
}

/** @throws TypeError */
export function compileTemplate(given: unknown, kind: TemplateKind, where: string): CompiledTemplate {
  if (given === 'bare') return new CompiledTemplate(undefined, kind)
  const tree = compileTree(given, TEMPLATE_PARTS[kind], `${where}: ${kind}`)
  const parts = listParts(tree)
  const twice = parts.find((part, index) => parts.indexOf(part) !== index)
  if (twice !== undefined) throw new TypeError(`${where}: ${kind}: the part "${twice}" is there twice.`)
  return new CompiledTemplate(tree, kind)
}

function compileTree(given: unknown, known: readonly Part[], where: string): Tree {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new TypeError(`${where} must be "bare", or an object whose values name parts: { "{plural}": "${known[0]!}" }.`)
  const entries = Object.entries(given)
  if (entries.length === 0) throw new TypeError(`${where} is empty: name the parts that it is to have, such as "${known[0]!}".`)
  return entries.map(([key, value]: [string, unknown]) => {
    const other = /\{[^}]*\}/.exec(key.replaceAll(HOLES, ''))?.[0]
    if (other !== undefined) throw new TypeError(`${where}: the key "${key}" has "${other}"; keys may hold {plural} and {singular}.`)
    if (key === '__proto__') throw new TypeError(`${where}: "__proto__" cannot be a key.`)
    if (typeof value !== 'string') return [key, compileTree(value, known, `${where}.${key}`)] as const
    if (!(known as readonly string[]).includes(value))
      throw new TypeError(
        `${where}.${key}: there is no part "${value}".${formatHint(findNearest(value, known))} Parts are ${known.join(', ')}.`,
      )
    return [key, value as Part] as const
  })
}

function listParts(tree: Tree): Part[] {
  return tree.flatMap(([, part]) => (typeof part === 'string' ? [part] : listParts(part)))
}

function buildTree(tree: Tree, parts: Parts): Record<string, unknown> {
  const body: Record<string, unknown> = {}
  for (const [key, part] of tree) {
    const value = typeof part === 'string' ? parts[part] : buildTree(part, parts)
    if (value !== undefined) body[key] = value
  }
  return body
}

function findPath(tree: Tree, wanted: Part): readonly string[] | undefined {
  for (const [key, part] of tree) {
    if (part === wanted) return [key]
    const inside = typeof part === 'string' ? undefined : findPath(part, wanted)
    if (inside !== undefined) return [key, ...inside]
  }
  return undefined
}
