/** Reads the command line of a bench. */
import { parseArgs } from 'node:util'
import { formatHint, findNearest } from '../lib/foundation/base/suggest.ts'

export interface Words {
  readonly rounds: number
  /** Whether the tables are written into the docs, too. */
  readonly docs: boolean
  /** Words before the selecting ones, such as `REF` of `bench:compare`. */
  readonly given: readonly string[]
  /** Whether to measure an item: its name contains one of the words, or no words were given. */
  readonly isWanted: (name: string) => boolean
}

export interface Expected {
  /** The default of the rounds. */
  readonly rounds: number
  /** The names of all items. */
  readonly names: readonly string[]
  /** The required words before the selecting ones, by their names in the usage line. */
  readonly before?: readonly string[]
  /** Whether its tables have a place in the docs. Default true. */
  readonly docs?: boolean
}

/** Reads the command line. Ends the process with one line for a wrong one. */
export function wordsOf(expected: Expected): Words {
  try {
    return read(process.argv.slice(2), expected)
  } catch (error) {
    console.error((error as Error).message)
    process.exit(2)
  }
}

/** @throws Error on an unknown option, a word that selects nothing, an invalid number of rounds, and `--docs` beside words. */
export function read(args: readonly string[], { rounds, names, before = [], docs = true }: Expected): Words {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { rounds: { type: 'string' }, ...(docs ? { docs: { type: 'boolean' } } : {}) },
    allowPositionals: true,
  })
  const words = positionals.slice(before.length)
  if (positionals.length < before.length) throw new Error(`Expected: ${before.join(' ')} [WORD...] [--rounds N].`)
  for (const word of words) {
    if (names.some(name => name.includes(word))) continue
    throw new Error(`No name of what is measured holds "${word}".${formatHint(findNearest(word, names))} There are: ${names.join('; ')}.`)
  }
  if (values['docs'] === true && words.length > 0) throw new Error('--docs writes all there is: it goes without words that select.')
  return {
    rounds: roundsOf(values.rounds ?? String(rounds)),
    docs: values['docs'] === true,
    given: positionals.slice(0, before.length),
    isWanted: name => words.length === 0 || words.some(word => name.includes(word)),
  }
}

function roundsOf(text: string): number {
  const rounds = Number(text)
  if (!Number.isSafeInteger(rounds) || rounds < 1) throw new RangeError(`--rounds must be an integer of 1 or more, got "${text}".`)
  return rounds
}
