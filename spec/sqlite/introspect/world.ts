/** SQLite files made by SQL, served as they are. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { internalsOf } from '../../../lib/engine/assembly/internals.ts'
import { RestEngine } from '../../../lib/index.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- bodies of answers
type Json = any

const folder = mkdtempSync(join(tmpdir(), 'mikro-rest-introspect-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))

/** A path in a folder that goes away afterwards. */
export function pathOf(name = `${randomUUID()}.sqlite`): string {
  return join(folder, name)
}

/** A file with what the SQL makes; neither foreign keys nor checks are enforced, as in files that others have written. */
export function fileOf(sql: string): string {
  const path = pathOf()
  const db = new Database(path)
  db.pragma('foreign_keys = off')
  db.pragma('ignore_check_constraints = on')
  db.exec(sql)
  db.close()
  return path
}

/** Rows of a statement, asked directly. */
export function rowsOf(path: string, sql: string, ...values: readonly unknown[]): Json[] {
  const db = new Database(path, { readonly: true })
  try {
    return db.prepare(sql).all(...values)
  } finally {
    db.close()
  }
}

/** A file, and the engine that serves it. */
export class Served implements AsyncDisposable {
  readonly path: string
  readonly engine: RestEngine
  readonly #failures: unknown[]

  constructor(path: string, engine: RestEngine, failures: unknown[]) {
    this.path = path
    this.engine = engine
    this.#failures = failures
  }

  /** The body of an answer; anything but a success of the request, or the status that is wanted, fails. */
  async ask(method: string, path: string, body?: unknown, status = 200): Promise<Json> {
    const answer = await this.engine.handle(method, `/v1/${path}`, undefined, body)
    assert.equal(answer.status, status, `${method} ${path}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }

  /** The record or records of an answer. */
  async get(path: string): Promise<Json> {
    const body = await this.ask('GET', path)
    return 'value' in body ? body.value : body[body.resource]
  }

  async write(method: string, path: string, body?: unknown): Promise<Json> {
    const answer = await this.ask(method, path, body)
    return answer[answer.resource]
  }

  rows(sql: string, ...values: readonly unknown[]): Json[] {
    return rowsOf(this.path, sql, ...values)
  }

  attributes(plural: string): string[] {
    return internalsOf(this.engine)
      .model.byName.get(plural)!
      .attributes.map(({ name }) => name)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.engine.close()
    assert.deepEqual(this.#failures, [], 'something was answered with a 500')
  }
}

/** Serves a file, or one that SQL makes. */
export async function serve(source: { readonly path: string } | string): Promise<Served> {
  const path = typeof source === 'string' ? fileOf(source) : source.path
  const failures: unknown[] = []
  const engine = await RestEngine.create({ database: path, onError: error => failures.push(error) })
  return new Served(path, engine, failures)
}
