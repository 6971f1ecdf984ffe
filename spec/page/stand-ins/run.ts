/**
 * Runs spec files in a page, one after another: `specs.spec.ts` calls `globalThis.runFile` in Chromium. A page at `?asks` posts each
 * result, and the answer names the next file.
 */
import { loadSqlite } from '../../../lib/databases/sqlite/wasm/load-page-sqlite.ts'
import { giveWholeBuffer } from './buffer.ts'
import { standInForProcess } from './process.ts'
import { runDeclared, type RunResult } from './test.ts'

standInForProcess()
giveWholeBuffer()
const loading = loadSqlite('/sqlite3.wasm')

/** @param runs of each property; undefined: as on Node */
async function runFile(path: string, leftOut: readonly string[], runs?: number): Promise<RunResult> {
  await loading
  process.env['FC_RUNS'] = String(runs ?? '')
  try {
    await import(path)
  } catch (error) {
    return { passed: 0, skipped: 0, failures: [`${path}: ${String((error as Error).stack)}`] }
  }
  return runDeclared(leftOut)
}

async function askForFiles(): Promise<never> {
  for (let result: RunResult | undefined; ;) {
    const answer = await fetch('/next', { method: 'POST', body: JSON.stringify(result ?? null) })
    result = await runFile(...((await answer.json()) as Parameters<typeof runFile>))
  }
}

Object.assign(globalThis, { runFile, ready: true })
if ((globalThis as unknown as { readonly location: { readonly search: string } }).location.search === '?asks') void askForFiles()
