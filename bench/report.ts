/**
 * Report: what a bench prints, and with `--docs` what it writes into docs/benchmarks.md, into the section that bears its name: the same tables, with the
 * date, the machine and the command.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'

const docs = new URL('../docs/', import.meta.url)

export class Report {
  readonly #section: string
  readonly #command: string
  readonly #parts: string[] = []
  readonly #plots = new Map<string, string>()
  #widths: readonly number[] = []

  /** @param section the name of its section in the docs, which is that of its npm script */
  constructor(section: string, words: readonly string[]) {
    this.#section = section
    const given = words.filter(word => word !== '--docs')
    this.#command = `npm run ${section}${given.length === 0 ? '' : ` -- ${given.join(' ')}`}`
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
    this.#widths = [Math.max(29, first.length + 2), ...rest.map(name => Math.max(11, name.length + 2))]
    console.log()
    this.#print(head)
    this.#parts.push('', `| ${head.join(' | ')} |`, `| --- |${rest.map(() => ' --: |').join('')}`)
  }

  row(...cells: readonly string[]): void {
    this.#print(cells)
    this.#parts.push(`| ${cells.join(' | ')} |`)
  }

  /** A picture beside the docs, which is written only with them. */
  plot(name: string, title: string, svg: string): void {
    this.#parts.push('', `![${title}](${name}.svg)`)
    this.#plots.set(name, svg)
  }

  /** Replaces the section in the docs. */
  write(): void {
    const file = fileURLToPath(new URL('benchmarks.md', docs))
    const text = readFileSync(file, 'utf8')
    const [begin, end] = [`<!-- ${this.#section} -->`, `<!-- end of ${this.#section} -->`]
    const [from, to] = [text.indexOf(begin), text.indexOf(end)]
    if (from < 0 || to < from) throw new Error(`docs/benchmarks.md has no section "${begin}".`)
    const content = `${begin}\n\n\`${this.#command}\`, ${circumstances()}.\n\n${this.#parts.join('\n')}\n\n`
    writeFileSync(file, text.slice(0, from) + content + text.slice(to))
    for (const [name, svg] of this.#plots) writeFileSync(new URL(`${name}.svg`, docs), svg)
    console.log('\nWritten into docs/benchmarks.md: npm run format:fix aligns its tables.')
  }

  #print(cells: readonly string[]): void {
    console.log(cells.map((cell, index) => (index === 0 ? cell.padEnd(this.#widths[0]!) : cell.padStart(this.#widths[index]!))).join(''))
  }
}

/** Date and machine. */
function circumstances(): string {
  const { platform, arch, versions } = process
  return `${new Date().toISOString().slice(0, 10)}, Node ${versions.node}, ${cpus().length} cores, ${platform} ${arch}`
}
