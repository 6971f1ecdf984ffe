/**
 * Load seed: what `--seed` names, a JSON file of records, a module with records or a seeder, or a seeder of MikroORM's config by its name.
 * Throws CommandError for what is none of these.
 */
import { readFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { parse } from 'node:path'
import type { EngineOptions } from '../../engine/pipeline/options.ts'
import { describeRounded, findRounded } from '../../foundation/json/json-numbers.ts'
import { checkSeeds, listSeeds, type Seeds } from '../../model/seeds.ts'
import { CommandError } from './command-error.ts'
import { dropByteOrderMark, parseJson } from './json-text.ts'
import { importModule, isModule } from './modules.ts'
import { checkReadable } from './readable.ts'

type Records = Readonly<Record<string, readonly object[]>>

/** What `--seed` adds to the options of a model. */
export type AddedSeed = Pick<EngineOptions, 'seed' | 'orm'>

export async function loadSeed(file: string): Promise<AddedSeed> {
  if (isNameOfSeeder(file)) return { seed: true, orm: { seeder: { defaultSeeder: file } } }
  const path = await checkReadable(file)
  const data = isModule(file) ? findSeed(await importModule(path), path) : readRecords(await readFile(path, 'utf8'), file)
  try {
    checkSeeds(data, file)
    return { seed: data }
  } catch {
    const what = isModule(file)
      ? 'its default export must be an object of lists, or a seeder of MikroORM'
      : 'it must contain an object of lists'
    throw new CommandError(`${file} is not a seed: ${what}, such as { "users": [{ "name": "Ann" }] }.`)
  }
}

/** @throws CommandError for a number that would be stored as another one */
function readRecords(text: string, file: string): unknown {
  const records = parseJson(text, file)
  const rounded = findRounded(dropByteOrderMark(text))
  if (rounded !== undefined) throw new CommandError(`${file} holds a number that has too many digits, ${describeRounded(rounded)}.`)
  return records
}

/** The name of a class. Files have an extension, or are there. */
function isNameOfSeeder(text: string): boolean {
  return /^[A-Z][\w$]*$/.test(text) && !existsSync(text)
}

/** The default export; else the class that is called as the file is, as MikroORM's own command makes it, or the only one. */
function findSeed(exported: Readonly<Record<string, unknown>>, path: string): unknown {
  const found = exported['default'] ?? exported[parse(path).name]
  if (found !== undefined) return found
  const [first, ...others] = Object.values(exported).filter(each => typeof each === 'function')
  return others.length === 0 ? first : undefined
}

/** Adds the seed of `--seed` to that of the model. Records fill empty tables, as those of the model do. */
export function withSeed(options: EngineOptions, added: AddedSeed | undefined): EngineOptions {
  const own = options.seed
  if (added?.seed === undefined) return options
  const { seed } = added
  const orm = { ...options.orm, ...(added.orm === undefined ? {} : { seeder: { ...options.orm?.seeder, ...added.orm.seeder } }) }
  return { ...options, orm, seed: own === undefined ? seed : join(own, seed) }
}

/** Records of both that link each other are sown together. */
function join(own: Seeds, added: Seeds): Seeds {
  if (!isRecords(own) || !isRecords(added)) return [...listSeeds(own), ...listSeeds(added)]
  const all: Record<string, readonly object[]> = { ...own }
  for (const [name, records] of Object.entries(added)) all[name] = [...(all[name] ?? []), ...records]
  return all
}

function isRecords(seeds: Seeds): seeds is Records {
  return typeof seeds === 'object' && !Array.isArray(seeds)
}
