/** MikroORM's SQLite driver on the engine's connection, corrected: column types of other databases, empty texts in lists, misfits. */
import type {
  Configuration,
  Dictionary,
  DriverException,
  EntityData,
  EntityManagerType,
  EntityMetadata,
  PopulateOptions,
} from '@mikro-orm/core'
import { AbstractSqlDriver, EntityManager, SqliteConnection, SqliteDriver, SqlitePlatform, type AnyQueryBuilder } from '@mikro-orm/sqlite'
import type { SharedSqliteDialect } from './shared-dialect.ts'
import { keysUsedUp } from '../../../model/key.ts'
import { LARGEST_KEY } from './autoincrement.ts'
import { BoundSqliteConnection } from './bound-connection.ts'
import { findMeaning } from './foreign-column-types.ts'
import { dropMisfits } from './misfits.ts'
import type { Needed } from '../../orm/orm-members.ts'
import { correctedDriver } from '../../orm/corrected-driver.ts'
import { correctedManager } from '../../orm/corrected-manager.ts'

export const DRIVER_MEMBERS: readonly Needed[] = [
  { holder: 'SqliteConnection', object: SqliteConnection.prototype, members: ['executeQuery', 'getSql', 'transformRawResult'] },
]

class BoundSqlitePlatform extends SqlitePlatform {
  /** Column types of other databases keep their meaning. */
  override getDefaultMappedType(type: string): ReturnType<SqlitePlatform['getDefaultMappedType']> {
    return super.getDefaultMappedType(findMeaning(type) ?? type)
  }

  /** For a list of an empty text, MikroORM would write an empty list. */
  override marshallArray(values: string[]): string {
    return values.map(value => (value === '' ? '""' : super.marshallArray([value]))).join(',')
  }
}

export class BoundSqliteDriver extends correctedDriver(AbstractSqlDriver<BoundSqliteConnection>) {
  constructor(config: Configuration) {
    super(config, new BoundSqlitePlatform(), BoundSqliteConnection, ['kysely', 'better-sqlite3'])
  }

  override createEntityManager(useContext?: boolean): this[typeof EntityManagerType] {
    const Manager = correctedManager(this.config.get('entityManager', EntityManager))
    return new Manager(this.config, this, this.metadata, useContext)
  }

  override convertException(exception: Error): DriverException {
    const isFull = (exception as { code?: string }).code === 'SQLITE_FULL'
    const usedUp = isFull ? (this.config.get('driverOptions') as SharedSqliteDialect).host.findUsedUp() : undefined
    return usedUp === undefined ? super.convertException(exception) : keysUsedUp(usedUp, LARGEST_KEY, exception)
  }

  override mapResult<T extends object>(
    row: EntityData<T>,
    meta: EntityMetadata<T>,
    populate?: PopulateOptions<T>[],
    builder?: AnyQueryBuilder<T>,
    map?: Dictionary,
  ): EntityData<T> | null {
    return super.mapResult(dropMisfits(row, meta as EntityMetadata, this.platform), meta, populate, builder, map)
  }

  override getORMClass(): ReturnType<SqliteDriver['getORMClass']> {
    return SqliteDriver.prototype.getORMClass.call(this)
  }
}
