/** Writes a diagram as an `erDiagram` of Mermaid. */
import type { Diagram, RelationEnd, DiagramEntity, Cardinality } from './diagram-parts.ts'

const SIGNS: { readonly [cardinality in Cardinality]: readonly [left: string, right: string] } = {
  one: ['||', '||'],
  zeroOrOne: ['|o', 'o|'],
  many: ['}o', 'o{'],
}

/** A name that Mermaid refuses is written with `_`, next to the true name. */
export function writeMermaid({ entities, relations }: Diagram): string {
  const names = nameEntities(entities)
  const lines = relations.map(({ from, to }) => {
    const label = quote([from, to].flatMap(({ attribute }) => attribute ?? []).join(' / '))
    return `  ${names.get(from.entity)} ${SIGNS[from.cardinality][0]}--${SIGNS[to.cardinality][1]} ${names.get(to.entity)} : ${label}`
  })
  return [
    'erDiagram',
    ...entities.flatMap(entity =>
      writeEntity(
        entity,
        names.get(entity.name)!,
        relations.flatMap(({ from }) => from),
      ),
    ),
    ...lines,
    '',
  ].join('\n')
}

function writeEntity({ name, attributes }: DiagramEntity, id: string, holders: readonly RelationEnd[]): string[] {
  const title = id === name ? id : `${id}[${quote(name)}]`
  if (attributes.length === 0) return [`  ${title}`]
  const rows = attributes.map(attribute => {
    const isHolder = attribute.isRelation && holders.some(end => end.entity === name && end.attribute === attribute.name)
    const keys = [...(attribute.isKey ? ['PK'] : []), ...(isHolder && !attribute.type.endsWith('[]') ? ['FK'] : [])]
    // `PK`, `FK` and `UK` are key marks in Mermaid.
    const written = /^[pfu]k$/i.test(attribute.name) ? `${attribute.name}_` : plain(attribute.name)
    const comment = written === attribute.name ? [] : [quote(attribute.name)]
    return `    ${[plain(attribute.type), written, ...(keys.length === 0 ? [] : [keys.join(', ')]), ...comment].join(' ')}`
  })
  return [`  ${title} {`, ...rows, '  }']
}

function nameEntities(entities: readonly DiagramEntity[]): Map<string, string> {
  const taken = new Set<string>()
  return new Map(
    entities.map(({ name }) => {
      // A keyword would begin another statement.
      const base = RESERVED.has(name.toLowerCase()) ? `${name}_` : plain(name).replaceAll(/[[\]]/g, '_')
      let id = base
      for (let number = 2; taken.has(id.toLowerCase()); number++) id = `${base}_${number}`
      taken.add(id.toLowerCase())
      return [name, id] as const
    }),
  )
}

const RESERVED = new Set([
  'erdiagram',
  'title',
  'acctitle',
  'accdescr',
  'direction',
  'style',
  'class',
  'classdef',
  'one',
  'many',
  'zero',
  'only',
  'to',
  'u',
  'optionally',
  'end',
  'default',
  'o',
  'tb',
  'bt',
  'rl',
  'lr',
])

/** Keeps ASCII letters, digits, `_` and the `[]` of lists. */
function plain(name: string): string {
  const written = name.replaceAll(/(?!\[\]$)[^\w\]]|\](?!$)/g, '_').replace(/(?<!\[)\]$/, '_')
  return /^[A-Za-z_]/.test(written) ? written : `_${written}`
}

function quote(text: string): string {
  return `"${text.replaceAll('"', "'").replaceAll(/\p{Control}/gu, ' ')}"`
}
