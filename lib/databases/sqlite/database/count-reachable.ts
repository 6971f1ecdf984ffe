/**
 * Counts the records behind a path through several lists, each once, where SQL would collect the records anew for every row. SQLite
 * evaluates each inner select of `mikro_reach(start, (select mikro_links(owner, target) from ...), ...)` once, and the count walks arrays
 * of numbers.
 */
import type { RawDatabase } from '../driver/raw-database.ts'

/** Owners, or links, between two checks of the clock. */
const CHECK_EVERY = 64

class ReachableLinks {
  readonly owners = new Map<unknown, number>()
  readonly targets = new Map<unknown, number>()
  readonly #from: number[] = []
  readonly #to: number[] = []

  get size(): number {
    return this.#from.length
  }

  add(owner: unknown, target: unknown): void {
    if (owner === null || target === null) return
    this.#from.push(findNumber(this.owners, owner))
    this.#to.push(findNumber(this.targets, target))
  }

  /** @returns `starts`, the position of each owner's first target in `found` */
  sorted(): { readonly starts: Uint32Array; readonly found: Uint32Array } {
    const starts = new Uint32Array(this.owners.size + 1)
    for (const owner of this.#from) starts[owner + 1]!++
    for (let owner = 0; owner < this.owners.size; owner++) starts[owner + 1]! += starts[owner]!
    const next = starts.slice()
    const found = new Uint32Array(this.#to.length)
    for (const [index, owner] of this.#from.entries()) found[next[owner]!++] = this.#to[index]!
    return { starts, found }
  }
}

function findNumber(numbers: Map<unknown, number>, value: unknown): number {
  let number = numbers.get(value)
  if (number === undefined) numbers.set(value, (number = numbers.size))
  return number
}

interface WalkStep {
  readonly starts: Uint32Array
  readonly found: Uint32Array
  /** By target: the number as an owner of the next step, or -1. */
  readonly onward: Int32Array
  /** By target: the last walk there. */
  readonly met: Uint32Array
  readonly reached: Uint32Array
}

class Path {
  readonly #owners: ReadonlyMap<unknown, number>
  readonly #steps: readonly WalkStep[]
  readonly #counts = new Map<unknown, number>()
  #walk = 0

  constructor(links: readonly ReachableLinks[], checkClock: () => void) {
    this.#owners = links[0]!.owners
    this.#steps = links.map((step, index) => {
      checkClock()
      const { targets } = step
      const next = links[index + 1]?.owners
      const onward = new Int32Array(targets.size).fill(-1)
      if (next !== undefined) for (const [target, number] of targets) onward[number] = next.get(target) ?? -1
      return { ...step.sorted(), onward, met: new Uint32Array(targets.size), reached: new Uint32Array(targets.size) }
    })
  }

  /** @param checkClock may throw */
  count(start: unknown, checkClock: () => void): number {
    const owner = this.#owners.get(start)
    if (owner === undefined) return 0
    let count = this.#counts.get(start)
    if (count === undefined) this.#counts.set(start, (count = this.#walked(owner, checkClock)))
    return count
  }

  #walked(start: number, checkClock: () => void): number {
    const walk = ++this.#walk
    const last = this.#steps.at(-1)
    let owners: Uint32Array = Uint32Array.of(start)
    let size = 1
    for (const step of this.#steps) {
      const count = meet(step, owners, size, walk, checkClock)
      if (step === last) return count
      const { reached, onward } = step
      size = 0
      for (let index = 0; index < count; index++) {
        const next = onward[reached[index]!]!
        if (next >= 0) reached[size++] = next
      }
      owners = reached
    }
    return size
  }
}

function meet({ starts, found, met, reached }: WalkStep, owners: Uint32Array, size: number, walk: number, checkClock: () => void): number {
  let count = 0
  for (let index = 0; index < size; index++) {
    if (index % CHECK_EVERY === 0) checkClock()
    const owner = owners[index]!
    const end = starts[owner + 1]!
    for (let at = starts[owner]!; at < end; at++) {
      const target = found[at]!
      if (met[target] === walk) continue
      met[target] = walk
      reached[count++] = target
    }
  }
  return count
}

export class ReachableCounter {
  #links: ReachableLinks[] = []
  isUsed = false
  readonly #paths = new Map<unknown, Path>()

  /** @param checkClock may throw */
  constructor(db: RawDatabase, checkClock: () => void) {
    db.aggregate('mikro_links', {
      directOnly: true,
      start: () => new ReachableLinks(),
      step: ((links: ReachableLinks, owner: unknown, target: unknown) => {
        if (links.size % CHECK_EVERY === 0) checkClock()
        links.add(owner, target)
      }) as never,
      result: (links: ReachableLinks) => {
        this.isUsed = true
        return this.#links.push(links) - 1
      },
    })
    db.function('mikro_reach', { directOnly: true, varargs: true }, (start: unknown, ...steps: unknown[]) => {
      let path = this.#paths.get(steps[0])
      if (path === undefined)
        this.#paths.set(
          steps[0],
          (path = new Path(
            steps.map(step => this.#links[step as number]!),
            checkClock,
          )),
        )
      return path.count(start, checkClock)
    })
  }

  /** Call after each statement. */
  clear(): void {
    this.isUsed = false
    this.#links = []
    this.#paths.clear()
  }
}
