/** Loads the records of `--seed` from a JSON file, a module with records or a seeder, or by the name of a seeder in MikroORM's config. */
import { readFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { parse } from 'node:path'
import type { EngineOptions } from '../../engine/options/options.ts'
import { describeRounded, findRounded } from '../../foundation/json/json-numbers.ts'
import { checkSeeds, listSeeds, type Seeds } from '../../model/seeds.ts'
import { CommandError } from './command-error.ts'
import { dropByteOrderMark, parseJson } from './json-text.ts'
import { importModule, isModule } from './modules.ts'
import { checkReadable } from './readable.ts'

type Records = Readonly<Record<string, readonly object[]>>

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

/** @throws CommandError for a number that JavaScript would round */
function readRecords(text: string, file: string): unknown {
  const records = parseJson(text, file)
  const rounded = findRounded(dropByteOrderMark(text))
  if (rounded !== undefined) throw new CommandError(`${file} holds a number that has too many digits, ${describeRounded(rounded)}.`)
  return records
}

/** A class, such as `UserSeeder`: no extension, and no such file in the folder. */
function isNameOfSeeder(text: string): boolean {
  return /^[A-Z][\w$]*$/.test(text) && !existsSync(text)
}

/** The default export; else, as by MikroORM's own command, the class named like the file; else the only class. */
function findSeed(exported: Readonly<Record<string, unknown>>, path: string): unknown {
  const found = exported['default'] ?? exported[parse(path).name]
  if (found !== undefined) return found
  const [first, ...others] = Object.values(exported).filter(each => typeof each === 'function')
  return others.length === 0 ? first : undefined
}

export function withSeed(options: EngineOptions, added: AddedSeed | undefined): EngineOptions {
  const modelSeed = options.seed
  if (added?.seed === undefined) return options
  const { seed } = added
  const orm = { ...options.orm, ...(added.orm === undefined ? {} : { seeder: { ...options.orm?.seeder, ...added.orm.seeder } }) }
  return { ...options, orm, seed: modelSeed === undefined ? seed : join(modelSeed, seed) }
}

/** Sows both together: records may link each other. */
function join(modelSeed: Seeds, added: Seeds): Seeds {
  if (!isRecords(modelSeed) || !isRecords(added)) return [...listSeeds(modelSeed), ...listSeeds(added)]
  const all: Record<string, readonly object[]> = { ...modelSeed }
  for (const [name, records] of Object.entries(added)) all[name] = [...(all[name] ?? []), ...records]
  return all
}

function isRecords(seeds: Seeds): seeds is Records {
  return typeof seeds === 'object' && !Array.isArray(seeds)
}
