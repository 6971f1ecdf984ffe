/**
 * Report: prints the tables of a bench, and writes with `--docs`: the same tables with the date, the machine and the command into the
 * section of docs/benchmarks.md that has its name, plots beside it, and the figures that the README shows.
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
  /** Whether the table shows the floor. */
  readonly floor?: boolean
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
  readonly more?: boolean
  /** What the second one may take at most, in the unit of the table. */
  readonly most?: number
  /** The difference that is allowed, in the unit of the table: the row shows the difference in place of the ratio. */
  readonly excess?: number
}

export class Report {
  readonly #section: string
  readonly #docs: boolean
  readonly #parts: string[] = []
  readonly #plots = new Map<string, string>()
  readonly #ratios: { readonly name: string; readonly ratio: number; readonly aim: number | undefined }[] = []
  #widths: readonly number[] = []
  #hasFloor = false

  /**
   * @param section the name of its npm script, which is that of its section in the docs
   * @param docs whether `end` writes the docs
   */
  constructor(section: string, docs: boolean) {
    this.#section = section
    this.#docs = docs
    console.log(`${circumstances()}\n`)
  }

  /** A line of text. */
  say(text: string): void {
    console.log(text)
    this.#parts.push(text, '')
  }

  /** Begins a table. The first column has texts, the others figures. */
  table(...head: readonly string[]): void {
    const [first = '', ...rest] = head
    this.#widths = [
      Math.max(40, first.length + 2),
      ...rest.map(name => Math.max(name === 'aim' || name === 'verdict' ? 17 : 11, name.length + 2)),
    ]
    console.log()
    this.#print(head)
    this.#parts.push('', `| ${head.join(' | ')} |`, `| --- |${rest.map(() => ' --: |').join('')}`)
  }

  row(...cells: readonly string[]): void {
    this.#print(cells)
    this.#parts.push(`| ${cells.map(cell => cell.replaceAll('|', '\\|').replaceAll('*', '\\*')).join(' | ')} |`)
  }

  /** Begins a table of comparisons. Each spread is half the distance between the quartiles. */
  versus({ what, base, own, floor = false }: Versus): void {
    this.#hasFloor = floor
    this.table(what, base, 'spread', own, 'spread', 'ratio', ...(floor ? ['floor'] : []), 'aim', '')
  }

  /** A row of such a table; gives the ratio. */
  compare({ name, base, own, floor, paired = false, aim, more = false, most, excess }: Comparison): number {
    const [one, two] = [summary(base), summary(own)]
    const ratioOf = (samples: readonly number[]): number =>
      paired ? byRound(base, samples, (first, second) => second / first) : median(samples) / one.median
    const ratio = ratioOf(own)
    const beyond = paired ? byRound(base, own, (first, second) => second - first) : two.median - one.median
    const isReached =
      (aim === undefined || (more ? ratio >= aim : ratio <= aim)) &&
      (most === undefined || two.median <= most) &&
      (excess === undefined || beyond <= excess)
    const aims = [
      ...(aim === undefined ? [] : [aim.toFixed(2)]),
      ...(most === undefined ? [] : [`at most ${most}`]),
      ...(excess === undefined ? [] : [`${excess} more`]),
    ]
    this.row(
      name,
      figure(one.median),
      `±${one.spread.toFixed(0)}%`,
      figure(two.median),
      `±${two.spread.toFixed(0)}%`,
      excess === undefined ? ratio.toFixed(2) : `+${figure(beyond)}`,
      ...(this.#hasFloor ? [floor === undefined ? '' : ratioOf(floor).toFixed(2)] : []),
      aims.join(', ') || '-',
      aims.length === 0 ? '-' : isReached ? 'ok' : 'over',
    )
    this.#ratios.push({ name, ratio, aim })
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

  /** A picture beside the docs, which is written only with them. */
  plot(name: string, title: string, svg: string): void {
    this.#parts.push('', `![${title}](plots/${name}.svg)`)
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
    const content = `${begin}\n\n\`npm run ${this.#section}\`, ${circumstances()}.\n\n${this.#parts.join('\n')}\n\n`
    const written = await formatted(file, text.slice(0, from) + content + text.slice(to))
    writeFileSync(file, written)
    if (this.#plots.size > 0) mkdirSync(new URL('docs/plots/', root), { recursive: true })
    for (const [name, svg] of this.#plots) writeFileSync(new URL(`docs/plots/${name}.svg`, root), svg)
    writeFileSync(readme, await formatted(readme, withFigures(readFileSync(readme, 'utf8'), written)))
    console.log('\nWritten into docs/benchmarks.md, docs/plots and README.md.')
  }

  #print(cells: readonly string[]): void {
    const padded = cells.map((cell, index) => (index === 0 ? cell.padEnd(this.#widths[0]!) : cell.padStart(this.#widths[index]!)))
    console.log(padded.join('').trimEnd())
  }
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
