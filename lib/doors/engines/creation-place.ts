/** Finds the application's line in the stack of an engine's creation: `test/orders.test.js:12`. */
import { isAbsolute, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A frame of a file: `at name (file:///a/b.ts:12:3)`, `at /a/b.ts:12:3`. */
const FRAME = /(?:\(|at (?:async )?)((?:file:\/\/)?(?:\/|[A-Za-z]:[\\/]).+?):(\d+):\d+\)?$/

/** This package's folder: `lib/`, or `dist/lib/`. */
const PACKAGE = import.meta.url.slice(0, import.meta.url.lastIndexOf('/lib/') + 5)

/** @returns file (relative where possible) and line; empty without a frame of a file */
export function findPlace(stack: string, folder: string): string {
  for (const line of stack.split('\n').slice(1)) {
    const [, file = '', row = ''] = FRAME.exec(line.trim()) ?? []
    if (file === '' || file.startsWith(PACKAGE) || file.startsWith(fileURLToPath(PACKAGE))) continue
    return `${formatPath(file.startsWith('file:') ? fileURLToPath(file) : file, folder)}:${row}`
  }
  return ''
}

export function formatPath(path: string, folder: string): string {
  if (!isAbsolute(path)) return path
  const below = relative(folder, path)
  return (below === '' || below.startsWith('..') ? path : below).replaceAll(sep, '/')
}
