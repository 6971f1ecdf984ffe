/** Mermaid: a diagram as the text of an `erDiagram` of Mermaid, for Markdown pages that draw such texts. */
import type { Diagram, RelationEnd, DiagramEntity, Cardinality } from './diagram-parts.ts'

/** The signs of a cardinality, at the left and at the right of a line. */
const SIGNS: { readonly [cardinality in Cardinality]: readonly [left: string, right: string] } = {
  one: ['||', '||'],
  zeroOrOne: ['|o', 'o|'],
  many: ['}o', 'o{'],
}

/** Returns the text. Names that Mermaid does not take are written with `_`, and as they are beside that. */
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
    // A mark of Mermaid's own.
    const written = /^[pfu]k$/i.test(attribute.name) ? `${attribute.name}_` : plain(attribute.name)
    const comment = written === attribute.name ? [] : [quote(attribute.name)]
    return `    ${[plain(attribute.type), written, ...(keys.length === 0 ? [] : [keys.join(', ')]), ...comment].join(' ')}`
  })
  return [`  ${title} {`, ...rows, '  }']
}

/** Names of entities that Mermaid takes, each another one. */
function nameEntities(entities: readonly DiagramEntity[]): Map<string, string> {
  const taken = new Set<string>()
  return new Map(
    entities.map(({ name }) => {
      // A word of Mermaid's own would begin something else.
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

/** A name as Mermaid takes it: ASCII letters, digits, `_`, and the brackets of lists. */
function plain(name: string): string {
  const written = name.replaceAll(/(?!\[\]$)[^\w\]]|\](?!$)/g, '_').replace(/(?<!\[)\]$/, '_')
  return /^[A-Za-z_]/.test(written) ? written : `_${written}`
}

function quote(text: string): string {
  return `"${text.replaceAll('"', "'").replaceAll(/\p{Control}/gu, ' ')}"`
}
