/** Licenses: the texts of the licenses of packages that a bundle holds. */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** @throws Error for a package without a text */
export function readLicenses(root: string, names: readonly string[]): string {
  return names.map(name => readLicense(join(root, 'node_modules', name), name)).join('\n\n')
}

/** `sqlite3.wasm`: its package names a licence, and has no text of it. The compiler's licence is the same. */
export function readSqliteLicense(root: string): string {
  const { version } = JSON.parse(readFileSync(join(root, 'node_modules/@sqlite.org/sqlite-wasm/package.json'), 'utf8')) as {
    version: string
  }
  const text = readFileSync(join(root, 'node_modules/typescript/LICENSE'), 'utf8').trim()
  const head = `@sqlite.org/sqlite-wasm ${version}, Apache-2.0: sqlite3.wasm, without the functions that no page uses`
  return `${head}\n\nSQLite itself is in the public domain.\n\n${text}\n`
}

function readLicense(folder: string, name: string): string {
  const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string; license: string }
  const file = readdirSync(folder).find(each => /^licen[sc]e(?:\.(?:md|txt))?$/i.test(each))
  if (file === undefined) throw new Error(`${folder} has no text of a licence of ${name}.`)
  return `${name} ${version}, ${license}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`
}
