/**
 * Thins a source map to lines: what stacks and breakpoints need of it. A bundler maps each word of a line; of those that stand on one line
 * and come from one line, the first is kept. Takes and gives a source map as text, without the names and the contents of the sources.
 */

/** Numbers of a segment, each as the difference from the segment before: column, source, line and column in the source. */
type Segment = readonly number[]

interface SourceMapText {
  readonly version: number
  readonly sources: readonly string[]
  readonly mappings: string
}

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** Reads a segment: numbers in groups of five bits, of which a sixth says whether more follow, and the lowest is the sign. */
function readSegment(text: string): Segment {
  const numbers: number[] = []
  let value = 0
  let shift = 0
  for (const digit of text) {
    const bits = DIGITS.indexOf(digit)
    if (bits < 0) throw new Error(`A source map has the segment "${text}".`)
    value += (bits & 31) << shift
    shift += 5
    if ((bits & 32) !== 0) continue
    numbers.push((value & 1) === 0 ? value >> 1 : -(value >> 1))
    value = 0
    shift = 0
  }
  return numbers
}

function writeNumber(number: number): string {
  let rest = number < 0 ? (-number << 1) | 1 : number << 1
  let text = ''
  do {
    const bits = rest & 31
    rest >>= 5
    text += DIGITS[rest > 0 ? bits | 32 : bits]
  } while (rest > 0)
  return text
}

/** Returns the mappings of the first segment of each run that leads to one line. */
function thinMappings(mappings: string): string {
  // Sums of what was read, and of what is written: source, line and column in the source.
  let read: [number, number, number] = [0, 0, 0]
  let written: [number, number, number] = [0, 0, 0]
  const lines: string[] = []
  for (const line of mappings.split(';')) {
    const kept: string[] = []
    let column = 0
    let lastColumn = 0
    let last: string | undefined
    for (const text of line === '' ? [] : line.split(',')) {
      const [move = 0, source, sourceLine = 0, sourceColumn = 0] = readSegment(text)
      column += move
      if (source !== undefined) read = [read[0] + source, read[1] + sourceLine, read[2] + sourceColumn]
      const place = source === undefined ? 'nowhere' : `${read[0]}:${read[1]}`
      if (place === last) continue
      last = place
      const steps = source === undefined ? [] : read.map((value, index) => value - written[index]!)
      if (source !== undefined) written = read
      kept.push([column - lastColumn, ...steps].map(writeNumber).join(''))
      lastColumn = column
    }
    lines.push(kept.join(','))
  }
  return lines.join(';')
}

export function thinSourceMap(text: string): string {
  const { version, sources, mappings } = JSON.parse(text) as SourceMapText
  return JSON.stringify({ version, sources, names: [], mappings: thinMappings(mappings) })
}
