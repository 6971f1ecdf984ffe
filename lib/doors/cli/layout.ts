/** Lays out code as Prettier does (after Wadler, "A prettier printer"): in one line where it fits, else broken from the outside in. */

/** A piece of code. */
export type Doc =
  | string
  | readonly Doc[]
  /** A group breaks at all of its breaks or at none. */
  | { readonly kind: 'group'; readonly of: Doc; readonly forced: boolean }
  | { readonly kind: 'indent'; readonly of: Doc }
  /** A line break, or a text in a group that stays in one line. */
  | { readonly kind: 'break'; readonly flat: string }
  /** A text that appears only in a broken group. */
  | { readonly kind: 'ifBroken'; readonly text: string }

export const line: Doc = { kind: 'break', flat: ' ' }
export const softline: Doc = { kind: 'break', flat: '' }
const COMMA: Doc = { kind: 'ifBroken', text: ',' }

/** Longest line and indentation of one level: Prettier's defaults. */
const WIDTH = 80
const STEP = '  '

export function group(of: Doc, forced = false): Doc {
  return { kind: 'group', of, forced }
}

export function indent(of: Doc): Doc {
  return { kind: 'indent', of }
}

export function join(docs: readonly Doc[], separator: Doc): Doc {
  return docs.flatMap((doc, index) => (index === 0 ? [doc] : [separator, doc]))
}

/** Makes `open item, item close`, in one line or with an item a line. `padding` stands inside the brackets of the single line. */
export function list(open: string, items: readonly Doc[], close: string, padding: Doc = softline, forced = false): Doc {
  if (items.length === 0) return open + close
  return group([open, indent([padding, join(items, [',', line])]), COMMA, padding, close], forced)
}

/** Prints a document, with a line break at its end. */
export function print(doc: Doc): string {
  let text = ''
  let column = 0
  const pending: Piece[] = [{ doc, indent: '', broken: true }]
  for (let piece = pending.pop(); piece !== undefined; piece = pending.pop()) {
    const { doc: next, indent: own, broken } = piece
    if (typeof next === 'string') {
      text += next
      column += next.length
    } else if ('kind' in next) {
      if (next.kind === 'indent') pending.push({ ...piece, doc: next.of, indent: own + STEP })
      else if (next.kind === 'group') {
        const flat = { doc: next.of, indent: own, broken: false }
        const fitsHere = !next.forced && !mustBreak(next.of) && fits(flat, pending, WIDTH - column)
        pending.push(fitsHere ? flat : { ...flat, broken: true })
      } else if (next.kind === 'ifBroken') {
        const shown = broken ? next.text : ''
        text += shown
        column += shown.length
      } else if (broken) {
        text = `${text.trimEnd()}\n${own}`
        column = own.length
      } else {
        text += next.flat
        column += next.flat.length
      }
    } else for (const part of next.toReversed()) pending.push({ ...piece, doc: part })
  }
  return `${text.trimEnd()}\n`
}

interface Piece {
  readonly doc: Doc
  readonly indent: string
  readonly broken: boolean
}

/** Whether a piece fits, together with the text up to the next line break. */
function fits(piece: Piece, following: readonly Piece[], width: number): boolean {
  let left = width
  const pending: Piece[] = [piece]
  let index = following.length
  for (;;) {
    if (left < 0) return false
    const next = pending.pop() ?? following[--index]
    if (next === undefined) return true
    const { doc, broken } = next
    if (typeof doc === 'string') left -= doc.length
    else if (!('kind' in doc)) for (const part of doc.toReversed()) pending.push({ ...next, doc: part })
    else if (doc.kind === 'indent') pending.push({ ...next, doc: doc.of })
    else if (doc.kind === 'group') pending.push({ ...next, doc: doc.of, broken: broken && doc.forced })
    else if (doc.kind === 'ifBroken') left -= broken ? doc.text.length : 0
    else if (broken) return true
    else left -= doc.flat.length
  }
}

/** Whether a document contains a group that must break. */
function mustBreak(doc: Doc): boolean {
  if (typeof doc === 'string') return false
  if (!('kind' in doc)) return doc.some(mustBreak)
  if (doc.kind === 'group') return doc.forced || mustBreak(doc.of)
  return doc.kind === 'indent' && mustBreak(doc.of)
}
