/**
 * README figures: the tables that the README shows, out of those that benches have written into docs/benchmarks.md, so that the two cannot
 * differ.
 */

interface Excerpt {
  readonly section: string
  /** The first cell of the head of the table. */
  readonly table: string
  readonly columns: readonly string[]
  /** The first cells of the rows; undefined: all. */
  readonly rows?: readonly string[]
}

const EXCERPTS: readonly Excerpt[] = [
  {
    section: 'bench',
    table: 'microseconds per call',
    columns: ['by hand', 'engine', 'ratio'],
    rows: ['list of 100, depth 1', 'one record, depth 1', 'create'],
  },
]

const [BEGIN, END] = ['<!-- how fast -->', '<!-- end of how fast -->']

/**
 * The README with its section of figures as the benchmarks have them. Benches without figures yet are left out.
 *
 * @throws Error when there is no such section, or a table, column or row that it shows is missing from the benchmarks.
 */
export function withFigures(readme: string, benchmarks: string): string {
  const [from, to] = [readme.indexOf(BEGIN), readme.indexOf(END)]
  if (from < 0 || to < from) throw new Error(`README.md has no section "${BEGIN}".`)
  const parts = EXCERPTS.flatMap(excerpt => shown(excerpt, benchmarks))
  return `${readme.slice(0, from)}${[BEGIN, ...parts, ''].join('\n\n')}${readme.slice(to)}`
}

/** A table and the line that says when, where and by which command it was measured. */
function shown({ section, table, columns, rows }: Excerpt, benchmarks: string): string[] {
  const content = benchmarks.split(`<!-- ${section} -->`)[1]?.split(`<!-- end of ${section} -->`)[0]?.trim() ?? ''
  if (content === '') return []
  const lines = content.split('\n')
  const start = lines.findIndex(line => cells(line)[0] === table)
  if (start < 0) throw new Error(`docs/benchmarks.md has no table "${table}" in its section ${section}.`)
  const head = cells(lines[start]!)
  const picked = [table, ...columns].map(column => {
    if (!head.includes(column)) throw new Error(`docs/benchmarks.md has no column "${column}" in its table "${table}".`)
    return head.indexOf(column)
  })
  const end = lines.findIndex((line, index) => index > start && !line.startsWith('|'))
  const body = lines.slice(start + 2, end < 0 ? undefined : end).map(cells)
  const names = rows ?? body.map(row => row[0]!)
  const chosen = names.map(name => {
    const row = body.find(([first]) => first === name)
    if (row === undefined) throw new Error(`docs/benchmarks.md has no row "${name}" in its table "${table}".`)
    return row
  })
  const written = [head, ...chosen].map(row => `| ${picked.map(index => row[index]).join(' | ')} |`)
  return [[written[0], `| --- |${columns.map(() => ' --: |').join('')}`, ...written.slice(1)].join('\n'), lines[0]!]
}

function cells(line: string): string[] {
  return line.startsWith('|')
    ? line
        .split('|')
        .slice(1, -1)
        .map(cell => cell.trim())
    : []
}
