/** Contenders of growth: each has a database of its own with the tables and rows of a world. */
import Database from 'better-sqlite3'
import { RestEngine } from '../../lib/index.ts'
import type { ContenderName } from '../contenders.ts'
import type { GrowthTrial } from './growths.ts'
import type { World } from './models.ts'

/** The answer to a call, as JSON text. */
export type Answer = (size: number, call: number) => string | Promise<string>

export interface Opened {
  answerTo(trial: GrowthTrial): Answer
  tables(): Promise<string[]>
  close(): Promise<void>
}

const SCHEMA = "select sql from sqlite_schema where name not like 'sqlite_%' order by name"

export async function open(name: ContenderName, world: World): Promise<Opened> {
  if (name === 'by hand') {
    const db = new Database(':memory:')
    for (const statement of [...world.tables, ...world.rows]) db.exec(statement)
    return {
      answerTo: trial => trial.byHand(db),
      tables: async () => db.prepare<[], string>(SCHEMA).pluck().all(),
      close: async () => void db.close(),
    }
  }
  const engine = await RestEngine.create({ entities: world.entities() as never, journal: 0 })
  const connection = engine.orm.em.getConnection()
  for (const statement of world.rows) await connection.execute(statement)
  return {
    answerTo: trial => (size, call) => {
      const { method, path, query } = trial.request(size, call)
      return engine.handle(method, path, query).then(({ body }) => JSON.stringify(body))
    },
    tables: async () => ((await connection.execute(SCHEMA)) as { sql: string }[]).map(({ sql }) => sql),
    close: () => engine.close(),
  }
}
