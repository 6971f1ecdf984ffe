/** Licenses: the texts of the licenses of packages that a bundle holds. */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** @throws Error for a package without a text */
export function readLicenses(root: string, names: readonly string[]): string {
  return names.map(name => readLicense(join(root, 'node_modules', name), name)).join('\n\n')
}

function readLicense(folder: string, name: string): string {
  const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string; license: string }
  const file = readdirSync(folder).find(each => /^licen[sc]e(?:\.(?:md|txt))?$/i.test(each))
  if (file === undefined) throw new Error(`${folder} has no text of a licence of ${name}.`)
  return `${name} ${version}, ${license}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`
}
