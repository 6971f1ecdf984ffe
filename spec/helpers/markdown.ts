/** Reads the parts of Markdown files that specs compare with the code: tables, lists, headings, links and fenced blocks. */

/** Returns the rows of the first table below a heading, each cell without backticks and escapes of bars. */
export function tableBelow(markdown: string, heading: string): string[][] {
  const lines = sectionOf(markdown, heading)
  const start = lines.findIndex(line => line.startsWith('|'))
  if (start < 0) throw new Error(`There is no table below "${heading}".`)
  const end = lines.findIndex((line, index) => index > start && !line.startsWith('|'))
  // Without the head and the line of dashes.
  return lines.slice(start + 2, end < 0 ? undefined : end).map(cellsOf)
}

/** Returns the lines from below a heading up to the next one. */
function sectionOf(markdown: string, heading: string): string[] {
  const lines = markdown.split('\n')
  const at = lines.findIndex(line => /^#+ /.test(line) && line.replace(/^#+ /, '') === heading)
  if (at < 0) throw new Error(`There is no heading "${heading}".`)
  const next = lines.findIndex((line, index) => index > at && /^#+ /.test(line))
  return lines.slice(at + 1, next < 0 ? undefined : next)
}

function cellsOf(line: string): string[] {
  return line
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map(cell => cell.trim().replaceAll('\\|', '|').replaceAll('`', ''))
}

/** Returns the first cells of the table below a heading. */
export function firstCells(markdown: string, heading: string): string[] {
  return tableBelow(markdown, heading).map(cells => cells[0] ?? '')
}

/** An entry of a reference list, in the one form that they have: - **`name`** (type; default `x`): what it is. */
export interface Entry {
  readonly name: string
  /** What the parentheses begin with: types, values, what it belongs to. Empty without them. */
  readonly type: string
  /** What stands behind "default". Empty where no default is given. */
  readonly standard: string
  readonly text: string
}

/** Returns the entries of the first reference list below a heading, without backticks. A bullet of another form ends in an error. */
export function entriesBelow(markdown: string, heading: string): Entry[] {
  const lines = sectionOf(markdown, heading)
  const start = lines.findIndex(line => line.startsWith('- **`'))
  if (start < 0) throw new Error(`There is no list of names below "${heading}".`)
  const end = lines.findIndex((line, index) => index > start && !/^(?:- | {2})/.test(line))
  const list = lines.slice(start, end < 0 ? undefined : end).join('\n')
  return list.split(/\n(?=- )/).map(entryOf)
}

function entryOf(bullet: string): Entry {
  const line = bullet.replaceAll(/\s+/g, ' ').replaceAll('`', '')
  const [, name, facts = '', text] = /^- \*\*(.+?)\*\*(?: \((.+?)\))?: (.+)\.$/.exec(line) ?? []
  if (name === undefined || text === undefined) throw new Error(`This is no entry of a list: "${line}"`)
  const [type = '', standard = ''] = facts.split(/(?:^|; )default:? /)
  return { name, type, standard, text }
}

/** Returns the names in the reference list below a heading. */
export function namesBelow(markdown: string, heading: string): string[] {
  return entriesBelow(markdown, heading).map(({ name }) => name)
}

/** A fenced block below a marker: `<!-- run -->`, an empty line, the block. */
export interface Block {
  /** The text of the marker: `run`, `run 400`, `prints`, `file shop.js`, `guide`. */
  readonly marker: string
  readonly language: string
  readonly text: string
  /** The line of the file at which it begins. */
  readonly line: number
}

export function markedBlocks(markdown: string): Block[] {
  return [...markdown.matchAll(/^<!-- ((?:run|prints|file|guide)\b.*?) -->\n+```(\w+)\n(.*?)^```$/gms)].map(
    ({ index, 1: marker = '', 2: language = '', 3: text = '' }) => {
      return { marker, language, text, line: markdown.slice(0, index).split('\n').length + 3 }
    },
  )
}

/** Returns the anchors of all headings, as GitHub makes them. */
export function anchors(markdown: string): string[] {
  return [...withoutBlocks(markdown).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

/** Returns the targets of all links, apart from those to other sites. */
export function localLinks(markdown: string): string[] {
  return [...withoutBlocks(markdown).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter(target => !/^[a-z]+:/.test(target))
}

function withoutBlocks(markdown: string): string {
  return markdown.replaceAll(/^```.*?^```$/gms, '')
}
