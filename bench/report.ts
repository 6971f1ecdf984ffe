/**
 * Report: prints the tables of a bench, and writes with `--docs`: figures, ratios and missed aims, with the date, the machine and the
 * command, into the section of docs/benchmarks.md that has its name, plots beside it, and the figures that the README shows.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'
import { format, type FormatConfig } from 'oxfmt'
import { dots } from './plot.ts'
import { withFigures } from './readme-figures.ts'
import { byRound, figure, median, summary } from './summary.ts'

const root = new URL('../', import.meta.url)

/** Two contenders, and what they are measured in. */
export interface Versus {
  /** The measured quantity with its unit: `microseconds per call`. */
  readonly what: string
  readonly base: string
  readonly own: string
  /** Whether the terminal shows the floor. */
  readonly floor?: boolean
  /** Further columns behind the ratio. */
  readonly more?: readonly string[]
  /** Whether the terminal alone shows the table. */
  readonly printedOnly?: boolean
}

/** What a contender took, beside what the other one did. */
export interface Comparison {
  readonly name: string
  readonly base: readonly number[]
  readonly own: readonly number[]
  /** What the least that any engine must do took; undefined: not measured. */
  readonly floor?: readonly number[] | undefined
  /**
   * Whether the samples of one round ran in turns in one process: the ratio is then the median over the rounds, else that of the medians.
   */
  readonly paired?: boolean
  /** The ratio that is to be reached. */
  readonly aim?: number | undefined
  /** Whether more is better, as of requests a second. */
  readonly isMoreBetter?: boolean
  /** What the second one may take at most, in the unit of the table. */
  readonly most?: number
  /** The difference that is allowed, in the unit of the table: the row shows the difference in place of the ratio. */
  readonly excess?: number
  /** The cells of the further columns. */
  readonly more?: readonly string[]
  /** Whether the terminal alone shows the row. */
  readonly printedOnly?: boolean
}

/** A table of the docs, which is written when it is complete. */
interface DocsTable {
  readonly head: readonly string[]
  readonly rows: (readonly string[])[]
}

/** The last column of a table in the docs: the aims that were missed. Left out where none was. */
export const MISSED = 'missed aim'

export class Report {
  readonly #section: string
  readonly #docs: boolean
  readonly #write: (line: string) => void
  readonly #parts: string[] = []
  readonly #plots = new Map<string, string>()
  readonly #ratios: { readonly name: string; readonly ratio: number; readonly aim: number | undefined }[] = []
  readonly #spreads: number[] = []
  #widths: readonly number[] = []
  #hasFloor = false
  /** Undefined: the terminal alone shows the table. */
  #table: DocsTable | undefined

  /**
   * @param section the name of its npm script, which is that of its section in the docs
   * @param docs whether `end` writes the docs
   */
  constructor(section: string, docs: boolean, print: (line: string) => void = console.log) {
    this.#section = section
    this.#docs = docs
    this.#write = print
    this.#write(`${circumstances()}\n`)
  }

  /** A line of text. */
  say(text: string): void {
    this.#endTable()
    this.#write(text)
    this.#parts.push(text, '')
  }

  /** Begins a table of the terminal and the docs. The first column has texts, the others figures. */
  table(...head: readonly string[]): void {
    this.#begin(head, head)
  }

  /** Begins a table that the terminal alone shows. */
  printedTable(...head: readonly string[]): void {
    this.#begin(head, undefined)
  }

  row(...cells: readonly string[]): void {
    this.#print(cells)
    this.#table?.rows.push(cells)
  }

  /** A row that the terminal alone shows. */
  printedRow(...cells: readonly string[]): void {
    this.#print(cells)
  }

  /**
   * Begins a table of comparisons. The terminal shows spreads, each half the distance between the quartiles, floor, aim and verdict; the
   * docs show the aims that were missed.
   */
  versus({ what, base, own, floor = false, more = [], printedOnly = false }: Versus): void {
    this.#hasFloor = floor
    const printed = [what, base, 'spread', own, 'spread', 'ratio', ...(floor ? ['floor'] : []), ...more, 'aim', '']
    this.#begin(printed, printedOnly ? undefined : [what, base, own, 'ratio', ...more, MISSED])
  }

  /** A row of such a table; gives the ratio. */
  compare({ name, base, own, floor, paired = false, more = [], printedOnly = false, ...aimed }: Comparison): number {
    const [one, two] = [summary(base), summary(own)]
    const ratioOf = (samples: readonly number[]): number =>
      paired ? byRound(base, samples, (first, second) => second / first) : median(samples) / one.median
    const ratio = ratioOf(own)
    const beyond = paired ? byRound(base, own, (first, second) => second - first) : two.median - one.median
    const aims = aimsOf(aimed)
    const isMissed = misses(aimed, { ratio, beyond, own: two.median })
    const shown = aimed.excess === undefined ? ratio.toFixed(2) : `+${figure(beyond)}`
    this.#print([
      name,
      figure(one.median),
      `±${one.spread.toFixed(0)}%`,
      figure(two.median),
      `±${two.spread.toFixed(0)}%`,
      shown,
      ...(this.#hasFloor ? [floor === undefined ? '' : ratioOf(floor).toFixed(2)] : []),
      ...more,
      aims || '-',
      aims === '' ? '-' : isMissed ? 'over' : 'ok',
    ])
    if (this.#table !== undefined && !printedOnly) {
      this.#table.rows.push([name, figure(one.median), figure(two.median), shown, ...more, isMissed ? aims : ''])
      this.#spreads.push(one.spread, two.spread)
    }
    this.#ratios.push({ name, ratio, aim: aimed.aim })
    return ratio
  }

  /** A plot of the ratios of all comparisons so far. */
  plotRatios(title: string, label: string): void {
    const ratios = this.#ratios.splice(0)
    const svg = dots({
      title,
      x: { label, log: true },
      rows: ratios.map(({ name }) => name),
      series: [
        { name: 'measured', values: ratios.map(({ ratio }) => ratio) },
        { name: 'aim', values: ratios.map(({ aim }) => aim), mark: 'tick' },
      ],
    })
    this.plot(this.#section.replace(':', '-'), title, svg)
  }

  /** A picture beside the docs, which is written only with them. `alt` is the text for readers without pictures. */
  plot(name: string, alt: string, svg: string): void {
    this.#endTable()
    this.#parts.push('', `![${alt}](plots/${name}.svg)`)
    this.#plots.set(name, svg)
  }

  /**
   * Ends the report: with `--docs` replaces its section.
   *
   * @throws Error when there is no such section.
   */
  async end(): Promise<void> {
    if (!this.#docs) return
    const [file, readme] = [new URL('docs/benchmarks.md', root), new URL('README.md', root)]
    const text = readFileSync(file, 'utf8')
    const [begin, end] = [`<!-- ${this.#section} -->`, `<!-- end of ${this.#section} -->`]
    const [from, to] = [text.indexOf(begin), text.indexOf(end)]
    if (from < 0 || to < from) throw new Error(`docs/benchmarks.md has no section "${begin}".`)
    const content = `${begin}\n\n${this.content()}\n\n`
    const written = await formatted(file, text.slice(0, from) + content + text.slice(to))
    writeFileSync(file, written)
    if (this.#plots.size > 0) mkdirSync(new URL('docs/plots/', root), { recursive: true })
    for (const [name, svg] of this.#plots) writeFileSync(new URL(`docs/plots/${name}.svg`, root), svg)
    writeFileSync(readme, await formatted(readme, withFigures(readFileSync(readme, 'utf8'), written)))
    this.#write('\nWritten into docs/benchmarks.md, docs/plots and README.md.')
  }

  /** The text of the section in the docs. */
  content(): string {
    this.#endTable()
    const head = `\`npm run ${this.#section}\`, ${circumstances()}.`
    const spread = (percent: number): string => `${percent.toFixed(0)}%`
    const spreads = `Spread: ${spread(median(this.#spreads))}, at most ${spread(Math.max(...this.#spreads))}.`
    return [head, '', ...this.#parts, ...(this.#spreads.length > 0 ? ['', spreads] : [])].join('\n')
  }

  #begin(printed: readonly string[], head: readonly string[] | undefined): void {
    this.#endTable()
    const [first = '', ...rest] = printed
    this.#widths = [
      Math.max(40, first.length + 2),
      ...rest.map(name => Math.max(name === 'aim' || name === 'verdict' ? 17 : 11, name.length + 2)),
    ]
    this.#write('')
    this.#print(printed)
    this.#table = head === undefined ? undefined : { head, rows: [] }
  }

  /** Writes the table of the docs, without the last column where no aim was missed, and without a head where no row is for the docs. */
  #endTable(): void {
    const table = this.#table
    this.#table = undefined
    if (table === undefined || table.rows.length === 0) return
    const width = table.head.at(-1) === MISSED && table.rows.every(row => row.at(-1) === '') ? table.head.length - 1 : table.head.length
    const line = (cells: readonly string[]): string => `| ${cells.slice(0, width).map(escaped).join(' | ')} |`
    const [, ...rest] = table.head.slice(0, width)
    this.#parts.push('', line(table.head), `| --- |${rest.map(() => ' --: |').join('')}`, ...table.rows.map(line))
  }

  #print(cells: readonly string[]): void {
    const padded = cells.map((cell, index) => (index === 0 ? cell.padEnd(this.#widths[0]!) : cell.padStart(this.#widths[index]!)))
    this.#write(padded.join('').trimEnd())
  }
}

/** The aims of a comparison. */
type Aimed = Pick<Comparison, 'aim' | 'isMoreBetter' | 'most' | 'excess'>

/** What to reach, as a text; empty: nothing. */
function aimsOf({ aim, most, excess }: Aimed): string {
  return [
    ...(aim === undefined ? [] : [aim.toFixed(2)]),
    ...(most === undefined ? [] : [`at most ${most}`]),
    ...(excess === undefined ? [] : [`${excess} more`]),
  ].join(', ')
}

function misses(
  { aim, isMoreBetter = false, most, excess }: Aimed,
  { ratio, beyond, own }: Readonly<Record<'ratio' | 'beyond' | 'own', number>>,
): boolean {
  return (
    (aim !== undefined && (isMoreBetter ? ratio < aim : ratio > aim)) ||
    (most !== undefined && own > most) ||
    (excess !== undefined && beyond > excess)
  )
}

function escaped(cell: string): string {
  return cell.replaceAll('|', '\\|').replaceAll('*', '\\*')
}

/** Formats a document as `npm run format` does. */
export async function formatted(file: URL, text: string): Promise<string> {
  const options = JSON.parse(readFileSync(new URL('.oxfmtrc.json', root), 'utf8')) as FormatConfig
  return (await format(fileURLToPath(file), text, options)).code
}

/** Date and machine. */
function circumstances(): string {
  const { platform, arch, versions } = process
  return `${new Date().toISOString().slice(0, 10)}, Node ${versions.node}, ${cpus().length} cores, ${platform} ${arch}`
}
