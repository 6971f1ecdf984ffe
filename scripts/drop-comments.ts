/**
 * Drops the comments of a bundle that stand in lines of their own: they are for those who read lib/, and what an editor shows is in the
 * types. Takes a script and its source map as texts, gives both. What begins like a comment inside of a text stays: the code must be the
 * same without white space.
 */
import { transformSync } from 'esbuild'

interface SourceMapText {
  readonly mappings: string
}

export function dropComments(code: string, map: string): { readonly code: string; readonly map: string } {
  const lines = code.split('\n')
  const { mappings, ...others } = JSON.parse(map) as SourceMapText
  const groups = mappings.split(';')
  const dropped = findComments(lines).filter(index => (groups[index] ?? '') === '')
  const gone = new Set(dropped)
  const kept = lines.filter((_, index) => !gone.has(index)).join('\n')
  if (squeeze(kept) !== squeeze(code)) return { code, map }
  return { code: kept, map: JSON.stringify({ ...others, mappings: groups.filter((_, index) => !gone.has(index)).join(';') }) }
}

/** The lines of comments, where a line holds nothing else. */
function findComments(lines: readonly string[]): number[] {
  const found: number[] = []
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!.trim()
    if (line.startsWith('//') && !line.startsWith('//#')) found.push(at)
    if (!line.startsWith('/*')) continue
    const end = lines.findIndex((each, index) => index >= at && each.includes('*/'))
    if (end < 0 || !lines[end]!.trim().endsWith('*/')) continue
    for (; at < end; at++) found.push(at)
    found.push(at)
  }
  return found
}

function squeeze(code: string): string {
  return transformSync(code, { minifyWhitespace: true, legalComments: 'none' }).code
}
