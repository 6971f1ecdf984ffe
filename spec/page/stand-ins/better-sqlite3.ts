/** What `spec/helpers/statements.ts` takes of better-sqlite3, in a page: the prototype of all statements. No files. */
import { openRaw } from '../../../lib/databases/sqlite/wasm/open-wasm.ts'
import { LeftOut } from './test.ts'

export default function Database(source: string): object {
  if (source !== ':memory:') throw new LeftOut('a page has no files')
  return openRaw(source)
}
