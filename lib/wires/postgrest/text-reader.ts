/** Reads PostgREST's grammar step by step, with names, JSON paths, quoted values and lists. */

/** Inside JSON: `->a`, `->>b`, `->0`. */
export interface Step {
  readonly name: string
  /** `->>`: compared and shown as text. */
  readonly isText: boolean
}

/** Levels of brackets. */
const MAX_DEPTH = 20
/** In all lists of a text. */
const MAX_MEMBERS = 1000

/** Keeps expressions: making one costs more than a match. */
const STICKY = new Map<string, RegExp>()

export class TextReader {
  readonly text: string
  readonly #fail: (found: string) => Error
  #at = 0
  #depth = 0
  #members = 0

  /** @param fail makes the error of an unexpected part */
  constructor(text: string, fail: (found: string) => Error) {
    this.text = text
    this.#fail = fail
  }

  get isAtEnd(): boolean {
    return this.#at >= this.text.length
  }

  sees(part: string): boolean {
    return this.text.startsWith(part, this.#at)
  }

  take(part: string): boolean {
    if (!this.sees(part)) return false
    this.#at += part.length
    return true
  }

  match(pattern: RegExp): string | undefined {
    const { source } = pattern
    let sticky = STICKY.get(source)
    if (sticky === undefined) STICKY.set(source, (sticky = new RegExp(source, 'yu')))
    sticky.lastIndex = this.#at
    const found = sticky.exec(this.text)?.[0]
    if (found !== undefined) this.#at += found.length
    return found
  }

  need(part: string): void {
    if (!this.take(part)) throw this.wrong(`expecting "${part}"`)
  }

  wrong(due: string): Error {
    return this.#fail(`unexpected ${this.isAtEnd ? 'end of input' : `"${this.text[this.#at]!}"`} ${due}`)
  }

  end(): void {
    if (!this.isAtEnd) throw this.wrong('expecting end of input')
  }

  count(): void {
    if (++this.#members > MAX_MEMBERS) throw this.wrong(`: more than ${MAX_MEMBERS} members`)
  }

  space(): void {
    this.match(/\s+/)
  }

  /** `name`, `"any, name"`, `my-name` */
  name(): string {
    if (this.sees('"')) return this.quoted()
    const found = this.match(/[\p{L}\p{N}_$ ]+(?:-(?!>)[\p{L}\p{N}_$ ]+)*/u)?.trim() ?? ''
    if (found === '') throw this.wrong('expecting field name (* or [a..z0..9_$])')
    return found
  }

  quoted(): string {
    this.need('"')
    const body = this.match(/(?:[^"\\]|\\[^])*/) ?? ''
    this.need('"')
    return body.replaceAll(/\\([^])/g, '$1')
  }

  steps(): Step[] {
    const steps: Step[] = []
    while (this.sees('->')) {
      const isText = this.take('->>')
      if (!isText) this.need('->')
      steps.push({ name: this.sees('-') ? (this.match(/-\d+/) ?? this.name()) : this.name(), isText })
    }
    return steps
  }

  members<Member>(close: string, read: () => Member): Member[] {
    if (++this.#depth > MAX_DEPTH) throw this.wrong(`: brackets are deeper than ${MAX_DEPTH} levels`)
    const members: Member[] = []
    this.space()
    while (!this.take(close)) {
      if (members.length > 0) this.need(',')
      this.space()
      this.count()
      members.push(read())
      this.space()
    }
    this.#depth--
    return members
  }

  rest(): string {
    const rest = this.text.slice(this.#at)
    this.#at = this.text.length
    return rest
  }
}
