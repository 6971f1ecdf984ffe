/** Column texts: values for columns of texts in a fixed form: an address, an interval, a number shown as text. */
import type { Random } from './random.ts'

type Make = (random: Random) => string

const EMPTY: Make = () => 'empty'

const address: Make = random => `10.${random.between(0, 255)}.${random.between(0, 255)}.${random.between(1, 254)}`

const pad = (value: number): string => String(value).padStart(2, '0')

const day: Make = random => `20${pad(random.between(0, 29))}-${pad(random.between(1, 12))}-${pad(random.between(1, 28))}`

const clock: Make = random => [23, 59, 59].map(high => pad(random.between(0, high))).join(':')

/** By type, without a schema. */
const MAKERS: Readonly<Record<string, Make>> = {
  interval: random => `${random.between(1, 1000)} days`,
  inet: address,
  cidr: address,
  macaddr: random => Array.from({ length: 6 }, () => random.between(16, 255).toString(16)).join(':'),
  money: random => `${random.between(1, 1000)}.00`,
  numeric: random => String(random.between(1, 1000)),
  timestamptz: random => `${day(random)} ${clock(random)}+00`,
  timestamp: random => `${day(random)} ${clock(random)}`,
  time: clock,
  timetz: random => `${clock(random)}+00`,
  xml: random => `<value>${random.between(1, 1000)}</value>`,
  point: random => `(${random.between(0, 90)},${random.between(0, 90)})`,
  int4range: EMPTY,
  int8range: EMPTY,
  numrange: EMPTY,
  tsrange: EMPTY,
  tstzrange: EMPTY,
  daterange: EMPTY,
}

/** Undefined: any text, or an unknown form. */
export function findColumnTexts(column: string | undefined): Make | undefined {
  const name = column?.replace(/^pg_catalog\./, '')
  return name !== undefined && Object.hasOwn(MAKERS, name) ? MAKERS[name] : undefined
}
