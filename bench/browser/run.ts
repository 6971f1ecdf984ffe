/**
 * Bench of pages: the engine in a page of Chromium, beside MSW with handlers by hand over an array, Mirage, and PGlite with SQL by hand, on
 * the same records. Each page is new and has nothing in its caches; the pages take turns. What they answer is compared first. Takes about
 * two minutes.
 *
 *     npm run bench:browser
 *     npm run bench:browser -- --rounds 3 list     fewer rounds, and only the operations whose name has one of the words
 *     npm run bench:browser -- --docs              writes the table into docs/benchmarks.md, too
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium, type Browser, type Page } from '@playwright/test'
import { build } from 'esbuild'
import { bundlePage } from '../../scripts/bundle-page.ts'
import { BROWSERS } from '../../spec/helpers/chromium-switches.ts'
import { serveFiles } from '../../spec/page/serve-page.ts'
import { MISSED, Report } from '../report.ts'
import { byRound, figure, inTurns, median } from '../summary.ts'
import { wordsOf } from '../words.ts'
import type { Meter } from './meter.ts'
import { CUSTOMERS, ORDERS, QUESTIONS, type Operation } from './orders.ts'

declare const meter: Meter

const root = fileURLToPath(new URL('../..', import.meta.url))
const PEERS = { msw: 'MSW', mirage: 'Mirage', pglite: 'PGlite by hand' } as const
const CONTENDERS = ['engine', 'msw', 'mirage', 'pglite'] as const
type Contender = (typeof CONTENDERS)[number]
/** What pages ask for beside scripts. PGlite looks for its files beside the script. */
const PGLITE = new URL('.', import.meta.resolve('@electric-sql/pglite'))
const ASSETS: readonly URL[] = [
  new URL(import.meta.resolve('msw/mockServiceWorker.js')),
  ...['pglite.wasm', 'pglite.data', 'initdb.wasm'].map(name => new URL(name, PGLITE)),
]
const OPERATIONS = Object.keys(QUESTIONS) as Operation[]
const MEASURED = ['start', ...OPERATIONS, 'reset'] as const
type Measured = (typeof MEASURED)[number]
/** Milliseconds at most. */
const MOST: Partial<Record<Measured, number>> = { start: 300, reset: 5 }
/** Whom the engine is to be ahead of. */
const AHEAD: Partial<Record<Measured, readonly Contender[]>> = {
  'list of 100': ['mirage', 'pglite'],
  'filter and sort': ['mirage', 'pglite'],
}
/** Milliseconds of one sample, and of the warm-up before. */
const [SAMPLE, WARM_UP] = [200, 400]

const { rounds, docs, isWanted } = wordsOf({ rounds: 9, names: MEASURED })
const wanted = MEASURED.filter(isWanted)
const samples = Object.fromEntries(
  CONTENDERS.map(name => [name, Object.fromEntries(wanted.map(each => [each, [] as number[]]))]),
) as Record<Contender, Record<Measured, number[]>>

const served = await serveFiles(await bundle())
const browser = await launch()
try {
  const report = new Report('bench:browser', docs)
  report.say(
    `${ORDERS.length.toLocaleString('en')} orders of ${CUSTOMERS.length} customers, Chromium ${browser.version()}; ` +
      `medians of ${rounds} rounds.`,
  )
  const answers = new Map<Contender, unknown>()
  for (const name of CONTENDERS) answers.set(name, await within(name, page => page.evaluate(names => meter.answers(names), OPERATIONS)))
  for (const [name, answer] of answers) assert.deepEqual(comparable(answer), comparable(answers.get('engine')), name)
  for (let round = 0; round < rounds; round++)
    for (const name of inTurns(CONTENDERS, round)) await within(name, page => measure(name, page))
  print(report)
  await report.end()
} finally {
  await browser.close()
  await served.close()
}

/** The files of all pages: the engine is the bundle that is published. */
async function bundle(): Promise<Map<string, Buffer>> {
  const folder = await mkdtemp(join(tmpdir(), 'mikro-rest-bench-'))
  try {
    await bundlePage(root, folder)
    const { outputFiles } = await build({
      absWorkingDir: root,
      entryPoints: CONTENDERS.map(name => `bench/browser/pages/${name}.ts`),
      outdir: '/',
      write: false,
      bundle: true,
      splitting: true,
      minify: true,
      format: 'esm',
      platform: 'browser',
      target: 'es2024',
      external: ['node:*'],
      plugins: [
        {
          name: 'as built',
          setup: ({ onResolve }) => onResolve({ filter: /\/lib\/browser\.ts$/ }, () => ({ path: join(folder, 'index.js') })),
        },
      ],
      nodePaths: [join(root, 'node_modules')],
      logLevel: 'warning',
    })
    const files = new Map<string, Buffer>(outputFiles.map(({ path, contents }) => [`/${basename(path)}`, Buffer.from(contents)]))
    files.set('/sqlite3.wasm', await readFile(join(folder, 'sqlite3.wasm')))
    for (const asset of ASSETS) files.set(`/${basename(asset.pathname)}`, await readFile(asset))
    for (const name of CONTENDERS)
      files.set(`/${name}.html`, Buffer.from(`<!doctype html><title>${name}</title><script type="module" src="/${name}.js"></script>`))
    return files
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Chromium as users have it: without the switches of specs. */
async function launch(): Promise<Browser> {
  const found = BROWSERS.find(name => name !== '' && spawnSync(name, ['--version']).status === 0)
  if (found === undefined)
    throw new Error(`There is no Chromium: CHROMIUM names one, or one of these is installed: ${BROWSERS.slice(1).join(', ')}.`)
  const executablePath = spawnSync('sh', ['-c', `command -v ${found}`], { encoding: 'utf8' }).stdout.trim()
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
}

async function within<Result>(name: Contender, work: (page: Page) => Promise<Result>): Promise<Result> {
  const context = await browser.newContext()
  try {
    const page = await context.newPage()
    const failed = page.waitForEvent('pageerror', { timeout: 0 }).then(error => Promise.reject(error))
    await page.goto(`${served.address}${name}.html`)
    await Promise.race([page.waitForFunction('globalThis.meter !== undefined'), failed])
    failed.catch(() => {})
    return await work(page)
  } finally {
    await context.close()
  }
}

async function measure(name: Contender, page: Page): Promise<void> {
  for (const each of wanted) {
    if (each === 'start') samples[name][each].push(await page.evaluate(() => meter.start))
    else {
      const time = (milliseconds: number): Promise<number> =>
        page.evaluate(([operation, most]) => meter.time(operation, most), [each, milliseconds] as const)
      await time(WARM_UP)
      samples[name][each].push(await time(SAMPLE))
    }
  }
}

/** Mirage has IDs that are texts. */
function comparable(answer: unknown): unknown {
  return JSON.parse(JSON.stringify(answer), (key, value: unknown) => (key === 'id' ? Number(value) : value))
}

function print(report: Report): void {
  report.table('milliseconds', 'engine', ...Object.values(PEERS).flatMap(name => [name, 'ratio']), MISSED)
  for (const each of wanted) {
    const own = samples.engine[each]
    const ratioTo = (name: Contender): number => byRound(samples[name][each], own, (other, engine) => engine / other)
    const peers = (Object.keys(PEERS) as Contender[]).flatMap(name => [figure(median(samples[name][each])), ratioTo(name).toFixed(2)])
    const missed = (AHEAD[each] ?? ['mirage'])
      .filter(name => ratioTo(name) > 1)
      .map(name => `ahead of ${PEERS[name as keyof typeof PEERS]}`)
    const most = MOST[each]
    if (most !== undefined && median(own) > most) missed.push(`at most ${most}`)
    report.row(each, figure(median(own)), ...peers, missed.join(', '))
  }
}
