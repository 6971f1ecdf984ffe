/** Compares the answers of both contenders to the first calls of a growth, at its smaller sizes. */
import { assertSame } from '../contenders.ts'
import { open } from './contenders.ts'
import type { Growth } from './growths.ts'
import type { World } from './models.ts'

/** Larger sizes take long to fill, and the same code answers them. */
const LARGEST = 10_000

/** @throws Error when the texts of an answer differ, or it is a failure. */
export async function compareAnswers({ name, sizes, world: worldOf, trials }: Growth): Promise<void> {
  const worlds = new Map<World, number[]>()
  for (const size of sizes.filter(one => one <= LARGEST)) {
    const world = worldOf(size)
    worlds.set(world, [...(worlds.get(world) ?? []), size])
  }
  for (const [world, asked] of worlds) {
    const [byHand, engine] = [await open('by hand', world), await open('engine', world)]
    try {
      for (const size of asked) {
        for (const trial of trials.filter(({ from = 0 }) => size >= from)) {
          const [wanted, given] = [byHand.answerTo(trial), engine.answerTo(trial)]
          for (let call = 0; call < 5; call++) {
            assertSame(`${name}: ${size}: ${trial.name}`, call, await wanted(size, call), await given(size, call))
          }
        }
      }
    } finally {
      await byHand.close()
      await engine.close()
    }
  }
}
