/** Whether spec files use a file of spec/, by themselves or by what they import. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

/**
 * @param patterns of the spec files, relative to `root`
 * @param file relative to `root`, with slashes
 */
export function reaches(root: string, patterns: readonly string[], file: string): boolean {
  const open = globSync([...patterns], { cwd: root }).map(found => resolve(root, found))
  const seen = new Set(open)
  for (const path of seen) {
    if (relative(root, path).replaceAll('\\', '/') === file) return true
    for (const [, name = ''] of readFileSync(path, 'utf8').matchAll(/^(?:import|export) (?!type )[^']*'(\.[^']+\.ts)'/gm)) {
      const imported = join(dirname(path), name)
      // Of the specs alone: nothing in lib/ imports them. Texts of programs in specs have imports, too.
      if (imported.startsWith(join(root, 'spec')) && existsSync(imported)) seen.add(imported)
    }
  }
  return false
}
