/** World store: a database on a server cannot be taken, replaced or copied as a whole yet; each attempt is refused in one line. */
import { restError } from '../base/errors.ts'
import type { RestError } from '../base/errors.ts'
import type { WorldStore } from '../database/world-store.ts'

export class PostgresWorldStore implements WorldStore {
  start(): void {}

  async image(): Promise<never> {
    throw refusal('snapshot')
  }

  async replace(): Promise<never> {
    throw refusal('restore')
  }

  async reset(): Promise<never> {
    throw refusal('reset')
  }

  fork(): never {
    throw refusal('fork')
  }

  differing(): never {
    throw refusal('restore')
  }
}

function refusal(method: string): RestError {
  return restError(
    'method_not_allowed',
    `engine.${method}: not possible on PostgreSQL yet: snapshots, forks, scenarios, worlds and reset need a database in memory or a SQLite file.`,
  )
}
