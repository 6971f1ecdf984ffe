/** Checks the option `seed`, an engine's first records: data (`{ users: [{ name: 'Ann' }] }`) or seeders. */

/** Records by resource name, for `engine.seed`. */
export type SeedData = Readonly<Record<string, readonly object[]>>
const inferred = new WeakSet<SeedData>()

/** Marks data of a JSON file: an ID that no path can name (`..`) is then noted, not refused. */
export function markInferredSeed(data: SeedData): SeedData {
  inferred.add(data)
  return data
}

export function isInferredSeed(data: SeedData): boolean {
  return inferred.has(data)
}

/**
 * A class of `@mikro-orm/seeder`, or any with `run`.
 *
 * @example class DatabaseSeeder extends Seeder { async run(em) { em.create(User, { name: 'Ann' }) } }
 */
export type SeederClass = new () => {
  run(em: never, context?: never): void | Promise<void>
}

/** `true`: the seeder of MikroORM's configuration. */
export type Seed = SeedData | SeederClass | true

export type Seeds = Seed | readonly Seed[]

export function listSeeds(seeds: Seeds): readonly Seed[] {
  return Array.isArray(seeds) ? (seeds as readonly Seed[]) : [seeds as Seed]
}

export function isSeeder(seed: Seed): seed is SeederClass | true {
  return seed === true || typeof seed === 'function'
}

export function checkSeeds(seeds: unknown, where: string): asserts seeds is Seeds {
  if (!Array.isArray(seeds)) return checkSeed(seeds, where, '')
  for (const [index, seed] of seeds.entries()) checkSeed(seed, where, `[${index}]`)
  if (seeds.length === 0 || seeds.some(isRecord)) throw refusal(where, '')
}

/** Like `{ name: 'Ann' }`, without lists of resources. */
function isRecord(seed: unknown): boolean {
  return typeof seed === 'object' && Object.values(seed!).some(list => !Array.isArray(list))
}

function checkSeed(seed: unknown, where: string, place: string): void {
  if (typeof seed === 'function') {
    const { prototype } = seed as { readonly prototype?: { readonly run?: unknown } }
    if (typeof prototype?.run === 'function') return
    throw new TypeError(
      `${where}${place} is ${seed.name === '' ? 'a function' : seed.name}, which is no seeder: ` +
        'a seeder is a class with a method run(em), as @mikro-orm/seeder has it.',
    )
  }
  if (seed !== true && (typeof seed !== 'object' || seed === null || Array.isArray(seed))) throw refusal(where, place)
}

function refusal(where: string, place: string): TypeError {
  return new TypeError(`${where}${place} must be an object of lists of records: { users: [{ name: 'Ann' }] }.`)
}
