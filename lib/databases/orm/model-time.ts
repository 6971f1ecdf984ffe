/**
 * Lets functions and constructors of entities follow the engine's clock: replaces values that equal the system's time of the call, such as
 * `new Date()`.
 */
import type { EntityManager, EntityProperty, MikroORM } from '@mikro-orm/core'
import type { Clock } from '../../foundation/async/clock.ts'
import { isGetter } from '../../model/metadata/property-type.ts'
import { withNameAndLength, takeOver } from './on-update.ts'

interface SharedWithOrm {
  readonly host: { readonly clock: () => Clock | undefined }
}

type ModelFunction = (entity: Record<string, unknown>, em: EntityManager) => unknown

const following = new WeakSet<ModelFunction>()

const two = (number: number): string => String(number).padStart(2, '0')

const SPELLINGS: readonly { readonly of: 'datetime' | 'date' | 'time'; readonly write: (date: Date) => string }[] = [
  { of: 'datetime', write: date => `${date.toISOString().slice(0, 19)}Z` },
  { of: 'datetime', write: date => date.toISOString().slice(0, 19).replace('T', ' ') },
  { of: 'date', write: date => date.toISOString().slice(0, 10) },
  { of: 'date', write: date => `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}` },
  { of: 'time', write: date => date.toISOString().slice(11, 19) },
  { of: 'time', write: date => `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}` },
]

function toEngineTime(value: unknown, type: string, from: number, to: number, clock: Clock): unknown {
  if (value instanceof Date) return value.getTime() >= from && value.getTime() <= to ? clock.now() : value
  if (typeof value === 'number' || typeof value === 'bigint') {
    const now = clock.now().getTime()
    const number = Number(value)
    const isSeconds = number >= Math.floor(from / 1000) && number <= to / 1000
    if (!isSeconds && !(number >= from && number <= to)) return value
    const moved = isSeconds ? Math.floor(now / 1000) : now
    return typeof value === 'bigint' ? BigInt(moved) : moved
  }
  if (typeof value !== 'string') return value
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value)) {
    const time = Date.parse(value)
    return time >= from && time <= to ? clock.now().toISOString() : value
  }
  // A bare date or time of day may be a constant, unless the property has that type.
  const spelling = SPELLINGS.find(
    ({ of, write }) =>
      (of === 'datetime' || of === type.toLowerCase().replace(/type$/, '')) &&
      (write(new Date(from)) === value || write(new Date(to)) === value),
  )
  return spelling === undefined ? value : spelling.write(clock.now())
}

/** Undefined while the engine has the system's time. */
function findClock(em: EntityManager): Clock | undefined {
  const shared = em.config.get('driverOptions') as SharedWithOrm
  const clock = shared.host.clock()
  return clock === undefined || clock.isSystem ? undefined : clock
}

export function followClock(orm: MikroORM): void {
  for (const meta of orm.getMetadata()) {
    for (const prop of meta.props) {
      for (const name of ['onCreate', 'onUpdate'] as const) {
        const original = prop[name] as ModelFunction | undefined
        if (original === undefined || following.has(original)) continue
        const call: ModelFunction = (entity, em) => {
          const clock = findClock(em)
          if (clock === undefined) return original(entity, em)
          const from = Date.now()
          const value = original(entity, em)
          return toEngineTime(value, prop.type, from, Date.now(), clock)
        }
        const wrapper = withNameAndLength<ModelFunction>(original, call)
        following.add(wrapper)
        takeOver(original, wrapper)
        prop[name] = wrapper as NonNullable<typeof prop.onCreate>
      }
    }
  }
}

/**
 * Replaces times set by a constructor: `createdAt = new Date()`.
 *
 * @param given the constructor's data, which stay
 * @param from before the construction
 */
export function retime(
  entity: Record<string, unknown>,
  given: object,
  properties: readonly EntityProperty[],
  from: number,
  clock: Clock,
): void {
  const to = Date.now()
  for (const property of properties) {
    const { name, type, kind } = property
    if (kind !== 'scalar' || Object.hasOwn(given, name) || isGetter(property)) continue
    const value = entity[name]
    const moved = toEngineTime(value, type, from, to, clock)
    if (!Object.is(moved, value)) entity[name] = moved
  }
}
