/** Make up: JSON values for `fill`. */
import type { ScalarType } from '../../foundation/values/scalar-type.ts'
import { fakeValues } from './fake-values.ts'
import { Random } from './random.ts'

export function makeUp(type: ScalarType, name: string, bearer: string, round: number): Iterator<unknown> {
  const random = new Random(`${bearer}.${name} ${round}`)
  return fakeValues({ type, name, primary: false }, { random, readable: undefined, now: undefined, bearer })
}
