/**
 * Takes snapshots as positions in the change log, goes back to a position, and copies the database for forks. Refuses databases without a
 * log of an engine.
 */
import type { PoolClient } from 'pg'
import { restError } from '../../foundation/errors/errors.ts'
import type { OpenDatabase, ServerDatabase, WorldImage, WorldStore, Unavailable } from '../../records/database/world-store.ts'
import { forkOrm } from '../orm/fork-orm.ts'
import { PostgresConnection } from './connection.ts'
import { findBehind, readEnd, type ChangeLog } from './kit/change-log.ts'
import { ForkDatabases } from './kit/fork-databases.ts'
import { PostgresImage, findRoute, relateToOrigin, type LogPlace, type LogRoute } from './kit/image.ts'
import { beginReplay, readChanges, readSequences, rewind, writeChanges, writeSequences } from './kit/row-changes.ts'
import type { SequenceValues, TableChanges } from './kit/row-changes.ts'
import { LentDialect } from './orm/lent-dialect.ts'
import type { PgliteDatabase } from './server/pglite.ts'
import { ask, command, Sessions } from './server/sessions.ts'
import { Transactions } from './server/transactions.ts'

interface DatabaseCopy {
  readonly database: string
  readonly origin: NonNullable<LogPlace['origin']>
}

interface ForkParts {
  readonly origin: NonNullable<LogPlace['origin']>
  /** Dropped with the fork; `undefined` in PGlite. */
  readonly copy?: { readonly databases: ForkDatabases; readonly ownDatabase: string }
}

/** While nobody else writes. */
interface WorldReplacement {
  readonly session: PoolClient
  readonly log: ChangeLog
  readonly method: string
}

const POOLED = 'a fork is a database of its own, and a pooler stands between ("prepare: false"): give a URL of the server itself'

export class PostgresWorldStore implements WorldStore, LogPlace {
  readonly origin: LogPlace['origin']
  readonly #connection: PostgresConnection
  readonly #database: ServerDatabase
  readonly #ownDatabase: string | undefined
  #databases: ForkDatabases | undefined
  #baseline: PostgresImage | undefined
  /** Images in use, kept when the log changes. */
  #images: WeakRef<PostgresImage>[] = []
  /** Copies, and how far the logs agree. */
  readonly #forks = new Set<{ sameUpTo: number }>()
  #template: Promise<DatabaseCopy> | undefined
  #spare: Promise<string | undefined> | undefined
  #forked = 0
  #isClosed = false

  constructor(connection: PostgresConnection, database: ServerDatabase, fork?: ForkParts) {
    this.#connection = connection
    this.#database = database
    this.origin = fork?.origin
    this.#databases = fork?.copy?.databases
    this.#ownDatabase = fork?.copy?.ownDatabase
    connection.closing = { before: () => this.#beforeClose(), after: () => this.#afterClose() }
  }

  async start(): Promise<void> {
    const { log, parts } = this.#connection
    if (log === undefined || log.hindrance !== undefined || parts.readOnly) return
    this.#baseline = await this.image()
  }

  image(): Promise<PostgresImage> {
    return this.#exclusively('snapshot', async ({ session, log }) => {
      const [position, sequences, size] = await Promise.all([readEnd(session, log), readSequences(session, log), readSize(session)])
      return this.#keep(position, sequences, size)
    })
  }

  imageAt(position: number): PostgresImage {
    return this.#keep(position, [], 0)
  }

  #keep(position: number, sequences: SequenceValues, size: number): PostgresImage {
    const image = new PostgresImage({ kind: 'position', place: this, position }, sequences, size)
    this.#images = this.#images.filter(each => each.deref() !== undefined)
    this.#images.push(new WeakRef(image))
    return image
  }

  async baseline(): Promise<PostgresImage> {
    return this.#baseline ?? this.image()
  }

  write(): undefined {
    return undefined
  }

  /** An image is a position in the log. */
  imageBytes(): number {
    return 0
  }

  size(): Promise<number> {
    return this.#connection.parts.sessions.use(readSize)
  }

  unavailable(): Unavailable {
    const why = this.#whyUnusable()
    const readOnly = this.#connection.parts.readOnly ? { write: 'the database is open for reading only' } : {}
    if (why !== undefined) return { ...readOnly, snapshot: why, restore: why, reset: why, fork: why }
    return this.#database.prepare === false && this.#connection.parts.sessions.pglite === undefined
      ? { ...readOnly, fork: POOLED }
      : readOnly
  }

  async replace(image: WorldImage, first: () => void): Promise<void> {
    this.#findLog('restore')
    if (this.#connection.parts.readOnly)
      throw restError('method_not_allowed', 'The database is open for reading only: nothing can be written to it.')
    const wanted = toPostgresImage(image)
    const route = await findRoute(wanted, this)
    await this.#exclusively('restore', replacement => this.#goTo(replacement, route, wanted, first))
  }

  async reset(first: () => void): Promise<void> {
    this.#findLog('reset')
    const baseline = this.#baseline
    // Without a baseline the database is read-only.
    if (baseline === undefined) return
    const route = await findRoute(baseline, this)
    await this.#exclusively('reset', replacement => this.#goTo(replacement, route, baseline, first))
  }

  async #goTo(
    { session, log, method }: WorldReplacement,
    { position, changes }: LogRoute,
    { sequences }: PostgresImage,
    first?: () => void,
  ): Promise<void> {
    const isBehind = await findBehind(session, log, position, method)
    first?.()
    await this.#detachBehind(session, log, position)
    // Writes rolled back have counted keys.
    if (!isBehind && changes.every(({ length }) => length === 0)) return writeSequences(session, sequences)
    await beginReplay(session)
    try {
      await rewind(session, log, position)
      for (const each of changes) await writeChanges(session, log, each)
      await writeSequences(session, sequences)
      await command(session, 'commit')
    } catch (error) {
      await command(session, 'rollback').catch(() => {})
      throw error
    }
  }

  /** Entries after the position will be deleted: images keep these changes, and copies share less of the log. */
  async #detachBehind(session: PoolClient, log: ChangeLog, position: number): Promise<void> {
    for (const each of this.#images) {
      const image = each.deref()
      if (image?.content.kind !== 'position' || image.content.place !== this || image.content.position <= position) continue
      const changes = await readChanges(session, log, position, image.content.position)
      image.content = { kind: 'changes', base: this.imageAt(position), changes }
    }
    for (const copy of [this.origin, ...this.#forks]) if (copy !== undefined) copy.sameUpTo = Math.min(copy.sameUpTo, position)
  }

  async changes(from: () => number, to: number): Promise<TableChanges[]> {
    if (this.#isClosed) throw new Error('The snapshot is of an engine that is closed.')
    const { gate, log, parts } = this.#connection
    await gate.enter()
    try {
      const start = from()
      return to <= start ? [] : await parts.sessions.use(session => readChanges(session, log!, start, to))
    } finally {
      gate.leave()
    }
  }

  async fork(image: WorldImage): Promise<OpenDatabase> {
    this.#findLog('fork')
    const wanted = toPostgresImage(image)
    const { pglite } = this.#connection.parts.sessions
    if (pglite !== undefined) return this.#forkInProcess(wanted, pglite)
    if (this.#database.prepare === false) throw refusal('fork', POOLED)
    // The first fork takes the copy itself, without a template.
    const isFirst = ++this.#forked === 1
    const { database: copy, origin } = await (isFirst ? this.#copyWhole() : this.#copyTemplate())
    const databases = this.#databases!
    const copied = { ...this.#database, url: databases.urlOf(copy) }
    const fork = await this.#openFork(
      new Sessions(copied, false),
      copied,
      { origin, copy: { databases: databases.join(), ownDatabase: copy } },
      wanted,
    )
    // From the second fork on, the next copy is made ahead.
    const template = isFirst ? undefined : await this.#template
    if (template !== undefined) this.#spare ??= databases.copy(template.database).catch(() => undefined)
    return fork
  }

  async #copyTemplate(): Promise<DatabaseCopy> {
    this.#template ??= this.#copyWhole().catch((error: unknown) => {
      this.#template = undefined
      throw error
    })
    const template = await this.#template
    const database = await this.#takeCopy(template.database)
    const origin = { place: this, sameUpTo: template.origin.sameUpTo }
    this.#forks.add(origin)
    return { database, origin }
  }

  /** Copies PGlite while nobody uses its session. */
  async #forkInProcess(image: PostgresImage, pglite: PgliteDatabase): Promise<OpenDatabase> {
    const { gate, log, parts } = this.#connection
    const { copied, origin } = await gate.alone(() =>
      parts.sessions.use(async session => {
        const origin = { place: this, sameUpTo: await readEnd(session, log!) }
        const copied = await pglite.clone()
        this.#forks.add(origin)
        return { copied, origin }
      }),
    )
    return this.#openFork(new Sessions(this.#database, false, copied), this.#database, { origin }, image)
  }

  async #takeCopy(template: string): Promise<string> {
    const spare = this.#spare
    this.#spare = undefined
    return (await spare) ?? this.#databases!.copy(template)
  }

  async #openFork(sessions: Sessions, database: ServerDatabase, parts: ForkParts, image: PostgresImage): Promise<OpenDatabase> {
    const {
      filters,
      parts: { flavour },
    } = this.#connection
    const connection = new PostgresConnection({ sessions, transactions: new Transactions(), flavour, readOnly: false, filters })
    connection.log = this.#connection.log
    const { logIns } = this.#connection
    if (logIns !== undefined) connection.keepLogIns(logIns.tables)
    connection.keepsConstraints = this.#connection.keepsConstraints
    connection.attachLater(() => forkOrm(this.#connection.orm, new LentDialect(connection.host, connection.filters)))
    const worlds = new PostgresWorldStore(connection, database, parts)
    try {
      await worlds.#begin(image)
    } catch (error) {
      await connection.close()
      throw error
    }
    return { connection, worlds, logIns: connection.logIns }
  }

  /** Starts from an image; `reset` returns there. */
  async #begin(image: PostgresImage): Promise<void> {
    const route = await findRoute(image, this)
    await this.#exclusively('fork', async replacement => {
      await this.#goTo(replacement, route, image)
      const { session, log } = replacement
      this.#baseline = this.#keep(await readEnd(session, log), image.sequences, image.size)
    })
  }

  #copyWhole(): Promise<DatabaseCopy> {
    const databases = (this.#databases ??= new ForkDatabases(this.#database.url).join())
    return this.#connection.gate.alone(async () => {
      const { sessions } = this.#connection.parts
      const state = await sessions.use(async session => {
        const [[database] = []] = await ask(session, 'select current_database()')
        return { database: database as string, end: await readEnd(session, this.#connection.log!) }
      })
      const database = await sessions.disconnected(() => databases.copy(state.database))
      const origin = { place: this, sameUpTo: state.end }
      this.#forks.add(origin)
      return { database, origin }
    })
  }

  differing(image: WorldImage): never {
    toPostgresImage(image)
    throw new TypeError(
      'The snapshot is of another database. On PostgreSQL a snapshot can be restored by its engine, and by forks of that.',
    )
  }

  /** @throws RestError in one line for a database without a usable log */
  #findLog(method: string): ChangeLog {
    const why = this.#whyUnusable()
    if (why !== undefined) throw refusal(method, why)
    return this.#connection.log!
  }

  /** @returns `undefined` where the log can be used */
  #whyUnusable(): string | undefined {
    const { log } = this.#connection
    if (log === undefined) return 'it held tables before an engine first opened it, and gets no triggers, which write down what changes'
    return log.hindrance
  }

  async #exclusively<T>(method: string, work: (replacement: WorldReplacement) => Promise<T>): Promise<T> {
    const log = this.#findLog(method)
    const { gate, parts } = this.#connection
    if (parts.transactions.current !== undefined)
      throw new Error(`engine.${method}: not possible inside a write, whose outcome is not known yet.`)
    return gate.alone(() => parts.sessions.use(session => work({ session, log, method })))
  }

  /** Images outlive a fork, as differences from the origin. */
  async #beforeClose(): Promise<void> {
    if (this.origin !== undefined) {
      for (const each of this.#images) {
        const image = each.deref()
        if (image === undefined || image === this.#baseline || image.content.kind !== 'position' || image.content.place !== this) continue
        image.content = (await relateToOrigin(this, image.content.position, image)).content
      }
    }
    this.#isClosed = true
  }

  async #afterClose(): Promise<void> {
    if (this.origin !== undefined) (this.origin.place as PostgresWorldStore).#forks.delete(this.origin)
    const databases = this.#databases
    if (databases === undefined) return
    const template = await this.#template?.catch(() => undefined)
    for (const database of [await this.#spare, template?.database, this.#ownDatabase]) if (database !== undefined) databases.drop(database)
    await databases.leave()
  }
}

async function readSize(session: PoolClient): Promise<number> {
  const [[size] = []] = await ask(session, 'select pg_database_size(current_database())')
  return Number(size)
}

/** @throws TypeError for the image of another kind of database */
function toPostgresImage(image: WorldImage): PostgresImage {
  if (image instanceof PostgresImage) return image
  throw new TypeError('The snapshot is not one of a PostgreSQL database.')
}

function refusal(method: string, why: string): Error {
  return restError('method_not_allowed', `engine.${method}: not possible for this PostgreSQL database: ${why}.`)
}
