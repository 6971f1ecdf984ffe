/**
 * Shakes SQLite's WebAssembly: takes `sqlite3.wasm` of `@sqlite.org/sqlite-wasm`, and leaves out the functions that no page can reach. The
 * engine calls the functions of `SqliteCalls` alone; what they call, and what stands in the table of pointers, stays. A function keeps its
 * number, and one that is left out its place: its body is `unreachable`. Refuses a module with instructions that are unknown here.
 *
 * The format: https://webassembly.github.io/spec/core/binary/
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const CALLS = 'lib/databases/sqlite/wasm/sqlite-calls.ts'
const WASM = 'node_modules/@sqlite.org/sqlite-wasm/dist/sqlite3.wasm'

/** No locals, `unreachable`, `end`; before them the size. */
const NO_BODY = Uint8Array.of(3, 0, 0x00, 0x0b)

const SECTION = { custom: 0, import: 2, export: 7, start: 8, element: 9, code: 10 } as const
/** Of imports and exports. */
const FUNCTION = 0

/** Reads a module from the front. */
class Cursor {
  readonly bytes: Uint8Array
  at: number

  constructor(bytes: Uint8Array, at = 0) {
    this.bytes = bytes
    this.at = at
  }

  byte(): number {
    return this.bytes[this.at++]!
  }

  /** LEB128. Of more than 32 bits, as in constants, the value is of no use. */
  number(): number {
    let [value, factor] = [0, 1]
    for (;;) {
      const byte = this.byte()
      value += (byte & 0x7f) * factor
      factor *= 128
      if (byte < 0x80) return value
    }
  }

  numbers(count: number): void {
    for (let left = count; left > 0; left--) this.number()
  }

  text(): string {
    const length = this.number()
    this.at += length
    return new TextDecoder().decode(this.bytes.subarray(this.at - length, this.at))
  }
}

function writeNumber(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) | 0x80, ...writeNumber(Math.floor(value / 128))]
}

type Reach = (index: number) => void

/** How many numbers follow instructions that begin with 0xfc: conversions, and those of memories and tables. */
const PREFIXED = [0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 2, 1, 2, 1, 2, 1, 1, 1]

/** Reads an instruction, and tells which function it calls or points to. */
function readInstruction(from: Cursor, reach: Reach): void {
  const code = from.byte()
  if (code === 0x10 || code === 0xd2) reach(from.number())
  else if (code === 0x0e) from.numbers(from.number() + 1)
  else if (code === 0x11 || (code >= 0x28 && code <= 0x3e)) from.numbers(2)
  else if (code === 0x1c) from.at += from.number()
  else if (code === 0x43) from.at += 4
  else if (code === 0x44) from.at += 8
  else if (code === 0xfc) from.numbers(PREFIXED[from.number()] ?? refuse(code, from.at))
  else if (TAKES_NUMBER.has(code)) from.number()
  else if (!TAKES_NOTHING.has(code)) refuse(code, from.at)
}

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
}

/** Blocks, branches, variables, tables, memory.size, memory.grow, i32.const, i64.const, ref.null. */
const TAKES_NUMBER: ReadonlySet<number> = new Set([0x02, 0x03, 0x04, 0x0c, 0x0d, ...range(0x20, 0x26), ...range(0x3f, 0x42), 0xd0])
/** Numeric instructions, and unreachable, nop, else, end, return, drop, select, ref.is_null. */
const TAKES_NOTHING: ReadonlySet<number> = new Set([0x00, 0x01, 0x05, 0x0b, 0x0f, 0x1a, 0x1b, ...range(0x45, 0xc4), 0xd1])

function refuse(code: number, at: number): never {
  throw new Error(`${WASM}: scripts/shake-sqlite.ts does not know the instruction 0x${code.toString(16)} before byte ${at}.`)
}

interface Part {
  readonly start: number
  readonly end: number
}

interface Export extends Part {
  readonly name: string
  readonly kind: number
  readonly index: number
}

function readSections(bytes: Uint8Array): (Part & { readonly id: number })[] {
  const sections: (Part & { readonly id: number })[] = []
  const from = new Cursor(bytes, 8)
  while (from.at < bytes.length) {
    const [id, size] = [from.byte(), from.number()]
    sections.push({ id, start: from.at, end: from.at + size })
    from.at += size
  }
  return sections
}

function countImportedFunctions(from: Cursor): number {
  let count = 0
  for (let left = from.number(); left > 0; left--) {
    from.text()
    from.text()
    const kind = from.byte()
    if (kind === FUNCTION) {
      count++
      from.number()
      continue
    }
    // A table has a type; a global is its type and whether it changes.
    if (kind === 3) {
      from.numbers(2)
      continue
    }
    if (kind === 1) from.byte()
    const hasMost = (from.byte() & 1) === 1
    from.numbers(hasMost ? 2 : 1)
  }
  return count
}

function readExports(from: Cursor): Export[] {
  return Array.from({ length: from.number() }, () => {
    const start = from.at
    const [name, kind, index] = [from.text(), from.byte(), from.number()]
    return { name, kind, index, start, end: from.at }
  })
}

function readBodies(from: Cursor): Part[] {
  return Array.from({ length: from.number() }, () => {
    const size = from.number()
    const start = from.at
    from.at += size
    return { start, end: from.at }
  })
}

/** Any code may call what the table points to. */
function reachPointers(from: Cursor, reach: Reach): void {
  for (let left = from.number(); left > 0; left--) {
    const form = from.number()
    if (form !== 0) throw new Error(`${WASM}: scripts/shake-sqlite.ts does not know element segments of the form ${form}.`)
    while (from.bytes[from.at] !== 0x0b) readInstruction(from, reach)
    from.byte()
    for (let pointers = from.number(); pointers > 0; pointers--) reach(from.number())
  }
}

function withSize(body: Uint8Array): Uint8Array {
  return Uint8Array.from([...writeNumber(body.length), ...body])
}

/** @param kept names of exports */
export function shake(bytes: Uint8Array, kept: ReadonlySet<string>): Uint8Array<ArrayBuffer> {
  const sections = readSections(bytes)
  const open = (id: number): Cursor | undefined => {
    const section = sections.find(each => each.id === id)
    return section && new Cursor(bytes, section.start)
  }
  const imported = countImportedFunctions(open(SECTION.import)!)
  const exports = readExports(open(SECTION.export)!).filter(({ name }) => kept.has(name))
  const missing = [...kept].filter(name => exports.every(each => each.name !== name))
  if (missing.length > 0) throw new Error(`${WASM} has no ${missing.join(', ')}.`)
  const bodies = readBodies(open(SECTION.code)!)
  const reached = new Set<number>()
  const reach: Reach = index => void reached.add(index)
  for (const { kind, index } of exports) if (kind === FUNCTION) reach(index)
  const start = open(SECTION.start)
  if (start !== undefined) reach(start.number())
  reachPointers(open(SECTION.element)!, reach)
  // What is added meanwhile comes, too.
  for (const index of reached) {
    const body = bodies[index - imported]
    if (body !== undefined) readBody(bytes, body, reach)
  }
  const cut = ({ start: first, end }: Part): Uint8Array => bytes.subarray(first, end)
  const parts: Uint8Array[] = [bytes.subarray(0, 8)]
  const write = (id: number, contents: readonly Uint8Array[]): void => {
    const size = contents.reduce((sum, { length }) => sum + length, 0)
    parts.push(Uint8Array.of(id, ...writeNumber(size)), ...contents)
  }
  const countOf = (list: readonly unknown[]): Uint8Array => Uint8Array.from(writeNumber(list.length))
  for (const section of sections) {
    if (section.id === SECTION.custom) continue
    if (section.id === SECTION.export) write(section.id, [countOf(exports), ...exports.map(cut)])
    else if (section.id === SECTION.code) {
      const shaken = bodies.map((body, at) => (reached.has(at + imported) ? withSize(cut(body)) : NO_BODY))
      write(section.id, [countOf(bodies), ...shaken])
    } else write(section.id, [cut(section)])
  }
  return new Uint8Array(Buffer.concat(parts))
}

function readBody(bytes: Uint8Array, { start, end }: Part, reach: Reach): void {
  const from = new Cursor(bytes, start)
  for (let locals = from.number(); locals > 0; locals--) from.numbers(2)
  while (from.at < end) readInstruction(from, reach)
  if (from.at !== end) throw new Error(`${WASM}: scripts/shake-sqlite.ts has misread the function before byte ${end}.`)
}

/** @param root the repository */
export function shakeSqlite(root: string): Uint8Array<ArrayBuffer> {
  const members = readFileSync(join(root, CALLS), 'utf8').matchAll(/^ {2}(?:readonly )?(\w+)[(:]/gm)
  return shake(readFileSync(join(root, WASM)), new Set([...members].map(([, name]) => name!)))
}
