/**
 * Drops the comments of a bundle that stand in lines of their own: they are for those who read lib/, and what an editor shows is in the
 * types. Takes a script as a text, and gives it. What begins like a comment inside of a text stays: the code must be the same without white
 * space.
 */
import { transformSync } from 'esbuild'

export function dropComments(code: string): string {
  const lines = code.split('\n')
  const gone = new Set(findComments(lines))
  const kept = lines.filter((_, index) => !gone.has(index)).join('\n')
  return squeeze(kept) === squeeze(code) ? kept : code
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
