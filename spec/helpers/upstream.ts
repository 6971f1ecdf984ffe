/** Reads the reports of docs/upstream, one defect of MikroORM each, and runs their scripts. */
import { execFile } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ROOT } from './command.ts'

export interface Report {
  readonly page: string
  readonly title: string
  readonly script: string
  /** What the script prints with the defect. */
  readonly happens: string
  readonly expected: string
  /** The first version of MikroORM without the defect. */
  readonly mendedIn: string | undefined
}

const REPORT =
  /^# (.+)\n\n([^`]+`@mikro-orm\/sqlite`.+)\n\n```js\n(.+?)```\n\n## What happens\n\n```\n(.+?)```\n\n## What is expected\n\n```\n(.+?)```\n/s

export function readReports(): Report[] {
  const folder = join(ROOT, 'docs/upstream')
  return readdirSync(folder).flatMap(page => {
    if (page === 'README.md') return []
    const [, title, versions, script, happens, expected] = REPORT.exec(readFileSync(join(folder, page), 'utf8')) ?? []
    if (title === undefined || versions === undefined || script === undefined || happens === undefined || expected === undefined)
      throw new Error(`docs/upstream/${page} has another form than the other reports.`)
    return [{ page, title, script, happens, expected, mendedIn: /mended in (\d+\.\d+\.\d+)/.exec(versions)?.[1] }]
  })
}

/** Between the texts of two scripts. */
const END = '\0'
const RUN = `for (const file of process.argv.slice(1)) {
  await import(file).catch(error => console.log(error.name + ': ' + error.message.split('\\n')[0]))
  process.stdout.write('${JSON.stringify(END).slice(1, -1)}')
}`

/** Runs the scripts in one process, in a folder that has MikroORM installed. Returns what each prints; an error is its first line. */
export async function runReports(reports: readonly Report[], folder: string): Promise<string[]> {
  const files = reports.map(({ page }) => join(folder, page.replace(/md$/, 'mjs')))
  for (const [index, { script }] of reports.entries()) await writeFile(files[index]!, script)
  const { NODE_OPTIONS: _, ...env } = process.env
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', RUN, ...files], {
    env: { ...env, FORCE_COLOR: '0' },
  })
  return stdout.split(END).slice(0, -1)
}
