/**
 * State: what a process tells of its engines, and what it is told, as lines of JSON. A line is from another process: it is read within
 * bounds.
 */
import { StringDecoder } from 'node:string_decoder'
import { isObject } from '../../foundation/base/json.ts'
import type { EngineFacts } from './shown-engine.ts'

/** A process, with the engines that it shows. */
export interface ProcessState {
  readonly pid: number
  /** What it runs: `test/orders.test.js`. */
  readonly name: string
  readonly engines: readonly EngineFacts[]
}

/** What a reader asks of an engine: to be opened, or to be let go. */
export interface Wish {
  readonly wish: 'open' | 'go'
  readonly id: string
}

/** Characters of a line. */
const MAX_LINE = 4 << 20
const ADDRESS = /^http:\/\/127\.0\.0\.1:\d{1,5}\/[^\s"<>\\]*$/

/**
 * Takes the bytes of a connection, and gives its lines.
 *
 * @returns false where a line is too long
 */
export function createLineReader(take: (line: string) => void): (chunk: Buffer) => boolean {
  // A chunk may end within a character.
  const decoder = new StringDecoder()
  let rest = ''
  return chunk => {
    const lines = (rest + decoder.write(chunk)).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line !== '') take(line)
    return rest.length <= MAX_LINE
  }
}

/** @returns undefined for what is not of the form */
export function parseState(line: string): ProcessState | undefined {
  const state = parse(line)
  if (!isObject(state)) return undefined
  const { pid, name, engines } = state
  const isGood = Number.isSafeInteger(pid) && typeof name === 'string' && Array.isArray(engines) && engines.every(isEngine)
  return isGood ? (state as unknown as ProcessState) : undefined
}

function isEngine(engine: unknown): boolean {
  if (!isObject(engine)) return false
  const { id, name, place, requests, waits, failure = '', address } = engine
  return (
    [id, name, place, failure].every(text => typeof text === 'string') &&
    Number.isSafeInteger(requests) &&
    typeof waits === 'boolean' &&
    (address === undefined || (typeof address === 'string' && ADDRESS.test(address)))
  )
}

/** @returns undefined for what is not of the form */
export function parseWish(line: string): Wish | undefined {
  const asked = parse(line)
  if (!isObject(asked)) return undefined
  const { wish, id } = asked
  return (wish === 'open' || wish === 'go') && typeof id === 'string' ? { wish, id } : undefined
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line) as unknown
  } catch {
    // It is not of the form, which the caller says.
    return undefined
  }
}
