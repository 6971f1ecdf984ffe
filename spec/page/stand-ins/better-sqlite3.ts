/** What `spec/helpers/statements.ts` takes of better-sqlite3, in a page: the prototype of all statements. */
import { openRaw } from '../../../lib/databases/sqlite/wasm/open-wasm.ts'

export default function Database(source: string): object {
  return openRaw(source)
}
