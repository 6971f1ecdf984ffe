/**
 * The oracle's groups: whether one row meets a tree of filters, by contract sections 4 and 12 ("Groups", "Conditions on one and the same
 * related record"), and the tree in both spellings.
 */
import { reach, type Resource, type Row } from './oracle-model.ts'
import { matches } from './oracle-filter.ts'

export type GroupTree =
  /** A filter, as an object query has it. */
  | { readonly kind: 'filter'; readonly name: string; readonly value: string }
  /** Alternatives, each of conditions that hold together. */
  | { readonly kind: 'any'; readonly negated: boolean; readonly of: readonly (readonly GroupTree[])[] }
  /** Some record at the end of the path meets all. */
  | { readonly kind: 'related'; readonly negated: boolean; readonly path: string; readonly of: readonly GroupTree[] }

export function meets(row: Row, tree: GroupTree, of: Resource = row.of): boolean {
  if (tree.kind === 'filter') return matches(row, tree.name, tree.value, of)
  if (tree.kind === 'any') return tree.of.some(alternative => alternative.every(part => meets(row, part, of))) !== tree.negated
  const there = reach(of, row, tree.path.split('.')).flatMap(ending => (ending.kind === 'related' ? ending.rows : []))
  return there.some(each => tree.of.every(part => meets(each, part))) !== tree.negated
}

const escape = (text: string): string => text.replaceAll(/\\[^]|[|;()]/g, found => (found.length === 1 ? `\\${found}` : found))

/** `(a=1|b=2;c=3)`, `!skills(level=1;kind=go)` */
export function textOf(tree: GroupTree): string {
  if (tree.kind === 'filter') {
    const { name, value } = tree
    if (/[<>]$/.test(name)) return `${name}${value.startsWith('=') ? '\\' : ''}${escape(value)}`
    return `${name}${name.endsWith('=') ? '' : '='}${escape(value)}`
  }
  const mark = tree.negated ? '!' : ''
  if (tree.kind === 'related') return `${mark}${tree.path}(${tree.of.map(textOf).join(';')})`
  return `${mark}(${tree.of.map(each => each.map(textOf).join(';')).join('|')})`
}

/** `{ '|': [{ a: 1 }, { b: 2, c: 3 }] }`; undefined where an object would need a key twice. */
export function objectOf(trees: readonly GroupTree[]): Record<string, unknown> | undefined {
  const members = trees.map((tree): readonly [string, unknown] => {
    if (tree.kind === 'filter') return [tree.name, tree.value]
    const mark = tree.negated ? '!' : ''
    return tree.kind === 'related' ? [mark + tree.path, objectOf(tree.of)] : [`${mark}|`, tree.of.map(objectOf)]
  })
  const isWhole = members.every(([, value]) => value !== undefined && !(Array.isArray(value) && value.includes(undefined)))
  return isWhole && new Set(members.map(([name]) => name)).size === members.length ? Object.fromEntries(members) : undefined
}
