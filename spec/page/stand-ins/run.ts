/** Runs spec files in a page, one after another: `globalThis.runFile` is called by `specs.spec.ts`. */
import { loadSqlite } from '../../../lib/databases/sqlite/wasm/load-page-sqlite.ts'
import { completeBuffer } from './buffer.ts'
import { standInForProcess } from './process.ts'
import { runDeclared, type RunResult } from './test.ts'

standInForProcess()
const loading = loadSqlite('/sqlite3.wasm').then(completeBuffer)

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

Object.assign(globalThis, { runFile, ready: true })
