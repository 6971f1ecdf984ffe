/** Finds the spec files of a run, and refuses those that cannot share a process. */
import { globSync, readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'

/** A hook at the top of a file runs for all tests of the process. The formatter lets nothing else begin in the first column. */
const HOOK_AT_TOP = /^(?:before|after|beforeEach|afterEach)\(/

/**
 * A file that measures memory behind full collections, which cost what its process holds: it begins, in a process that holds nothing yet.
 */
const COLLECTS = '--expose-gc'

/** A file that fills databases in WebAssembly comes next: it takes twice the time in a process that holds what many files have left. */
const FILLS = "database: 'pglite:'"

/**
 * @param patterns relative to `root`
 * @returns paths with slashes, relative to `root`, in order of the time that they took last
 * @throws Error: a pattern without files, hooks at the top of a file
 */
export function findFiles(root: string, patterns: readonly string[], times: Readonly<Record<string, number>>): string[] {
  const files = new Set<string>()
  for (const pattern of patterns) {
    const found = globSync(pattern, { cwd: root })
    if (found.length === 0) throw new Error(`There is no spec file ${pattern}.`)
    for (const file of found) files.add(file.replaceAll('\\', '/'))
  }
  refuseHooks(root, [...files])
  // A file that is new is as slow as its length lets one expect: the longest ones begin, so that the workers end together.
  const weightOf = (file: string): number => times[file] ?? statSync(resolve(root, file)).size / 10
  const textOf = (file: string): string => readFileSync(resolve(root, file), 'utf8')
  const placeOf = (text: string): number | undefined =>
    text.includes(COLLECTS) ? Infinity : text.includes(FILLS) ? Number.MAX_VALUE : undefined
  const weights = new Map([...files].map(file => [file, placeOf(textOf(file)) ?? weightOf(file)]))
  return [...files].toSorted((one, other) => compareDown(weights.get(one)!, weights.get(other)!))
}

/** In helpers, too: any file of spec/ may be imported by others. */
function refuseHooks(root: string, files: readonly string[]): void {
  const hooks = [...new Set([...files, ...globSync('spec/**/*.ts', { cwd: root })])].flatMap(file =>
    readFileSync(resolve(root, file), 'utf8')
      .split('\n')
      .flatMap((line, index) => (HOOK_AT_TOP.test(line) ? [`  ${file}:${index + 1}  ${line}`] : [])),
  )
  if (hooks.length === 0) return
  throw new Error(
    `Spec files share a process, where hooks at the top of a file run for all files. Move them into a describe:\n${hooks.join('\n')}`,
  )
}

/** Infinity less itself is no number. */
function compareDown(one: number, other: number): number {
  return one === other ? 0 : other - one
}
