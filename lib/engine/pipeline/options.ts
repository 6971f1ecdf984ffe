/** Options: what `RestEngine.create` takes, and what it is once it is checked: see check-options.ts. */
import type { Options as OrmOptions } from '@mikro-orm/core'
import type { FailedRequest } from '../../foundation/base/report-failure.ts'
import type { Limits } from '../../foundation/base/limits.ts'
import type { AuthModule } from '../auth/auth-module.ts'
import type { CustomParameter } from '../../records/access/access-rules.ts'
import type { ResourceDefinition } from '../../model/resource-config.ts'
import type { SharedScope } from '../../model/shared-scope.ts'
import type { UnmetFaults } from '../testing/fault-handle.ts'
import type { Route } from '../../records/request/custom-routes.ts'
import type { Seeds } from '../../model/seeds.ts'
import type { Evolving } from '../../records/database/evolving.ts'
import type { ServerDatabase, SqlFunctions } from '../../records/database/world-store.ts'
import type { CompiledEnvelope, EnvelopeOption } from './shape-answer.ts'

/** Options of `RestEngine.create`. */
export interface EngineOptions {
  /**
   * The config of an application's MikroORM, as `defineConfig` gives it, and the default export of `mikro-orm.config`: an object, a list of
   * them, of which the option `orm: { contextName }` chooses one, a function or a promise. Its entities and options hold, but for the
   * connection: that is `database`, else the config's own SQLite file or PostgreSQL server, else SQLite in memory. Default: none.
   */
  readonly config?: object
  /**
   * Entities, in any form that MikroORM takes: `defineEntity`, `EntitySchema`, decorated classes, glob patterns. Without them `database`
   * must be the path of a SQLite file: what is in it is the model.
   */
  readonly entities?: NonNullable<OrmOptions['entities']>
  /**
   * `:memory:` (the default), or the path of a SQLite file, created when missing; or a PostgreSQL database, as a URL
   * (`postgres://user@host/database`) or as `{ url, schema, poolSize, statementTimeout, prepare }`; or one in this process (`pglite:`,
   * `pglite:DIR`).
   */
  readonly database?: string | URL | ServerDatabase
  /**
   * `update` (the default) creates missing tables and columns and never drops any; `evolve` makes the tables that are there fit the
   * entities, with their rows, after a copy of a file; `keep` touches nothing, and is the default and the only choice without entities;
   * `migrate` runs the application's migrations, which its MikroORM has in the option `migrations`, by `@mikro-orm/migrations`.
   */
  readonly schema?: 'update' | 'keep' | 'evolve' | 'migrate'
  /**
   * For `schema: 'evolve'`: values for rows that have none in a new or now required property, by resource and property, in their JSON form.
   * Default: the property's own default, else a made-up value.
   */
  readonly fill?: Evolving['fill']
  /**
   * For `schema: 'evolve'`: properties that have new names, by resource, the old name to the new one. Default: none, so an old column stays
   * beside the new one.
   */
  readonly renamed?: Evolving['renamed']
  /** For `schema: 'evolve'`: drops the columns and tables that the model lacks, with their values. Default: false. */
  readonly drop?: boolean
  /**
   * Clients may read only, and log in and out: POST, PUT, PATCH and DELETE are 405. A file is opened for reading only: nothing is written
   * to it or left beside it, and it must be there, with all that the entities need. Default: false.
   */
  readonly readOnly?: boolean
  /**
   * Further MikroORM options, such as `namingStrategy`, `filters` or `subscribers`. The database, driver and entities are the engine's own.
   */
  readonly orm?: Partial<OrmOptions>
  /**
   * Functions that triggers of a SQLite file call, and that only the program of the file has, by name: `{ title_sort: title => ... }`. They
   * take and give values of SQLite, and wait for nothing. Default: none; `notes` names those that are missing.
   */
  readonly functions?: SqlFunctions
  /** Finds the entity of a resource name in the URL; replaces the default look-up. Nothing means 404. */
  readonly lookup?: (name: string, version: string) => object | null | undefined
  /** Per-model customisation. */
  readonly resources?: readonly ResourceDefinition[]
  /**
   * Rules for all resources. `scope`: by property, a function of the caller that gives the value which rows have that exist for the caller
   * (a list: any of these; an object: a condition on the property; `true`: all rows; nothing: none). Each resource that has the property
   * has this scope, beside one of its own; `notes` names the resources that have none. Default: none.
   *
   * @example { scope: { tenant: ctx => ctx.user?.tenant } }
   */
  readonly defaults?: { readonly scope?: SharedScope }
  /** The path before the version, such as `'/api'`, which links carry; a way in may have another one. Default: none. */
  readonly base?: string
  /** The accepted path segments after the base. Default `['v1']`; `[]`: paths have no version. */
  readonly versions?: readonly string[]
  /** Guards against requests that ask for too much. */
  readonly limits?: Partial<Limits>
  /** Custom routes, which come before the default ones. */
  readonly routes?: readonly Route[]
  /** Renames a reserved parameter (`{ limit: 'per_page' }`), or adds one: a function of its value that gives a MikroORM FilterQuery. */
  readonly parameters?: Readonly<Record<string, string | CustomParameter>>
  /**
   * Takes forms as bodies of POST, PUT and PATCH, over HTTP, `fetch` and interception: `application/x-www-form-urlencoded`, and the text
   * fields of `multipart/form-data`. Default: false; a form is 415 then. A page of any site can send one, so a cookie alone must not let it
   * write.
   */
  readonly forms?: boolean
  /** Log-in by token. Default: off. */
  readonly auth?: AuthModule
  /**
   * Records for empty tables, by resource name, loaded before `create` resolves. A table that has rows is left alone, with a note. Also a
   * Seeder class of `@mikro-orm/seeder`, which fills an empty database; `true`, the one that MikroORM's config names; or a list of these,
   * in their order. Default: none.
   */
  readonly seed?: Seeds
  /** Named seeds, each in the place of `seed`: see `engine.scenario`. Default: none. */
  readonly scenarios?: Readonly<Record<string, Seeds>>
  /** The source of all timestamps. Default: the system's clock. */
  readonly clock?: () => Date
  /** Status of a created record: 200 (the default) or 201. */
  readonly createdStatus?: 200 | 201
  /** Status of a deletion: 200 (the default), with the record as it was, or 204 without a body. */
  readonly deletedStatus?: 200 | 204
  /**
   * Another form of answers: templates whose values name parts and whose keys may hold `{plural}` and `{singular}`, or `'bare'`. What is
   * asked inside of requests keeps the engine's own form. Default: that form.
   *
   * @example { list: { '{plural}': 'records', '{plural}Count': 'count' }, record: { '{singular}': 'record' } }
   */
  readonly envelope?: EnvelopeOption
  /** Status of a body that the model refuses: 422 (the default) or 400. */
  readonly validationStatus?: 400 | 422
  /**
   * Which entity tags GET and HEAD answer with, for `If-None-Match`: `version` (the default), those of records that show their version;
   * `answer`, every answer a tag of its content as well, which costs a hash of each.
   */
  readonly etag?: 'version' | 'answer'
  /** Requests that `engine.requests` keeps, the newest ones; 0 keeps none. Default 1000. */
  readonly journal?: number
  /**
   * What becomes of faults and gates that no request has met: `ignore` (the default), or `throw`: `reset`, `scenario` and `close` do their
   * work and then reject with a `RestError` (409 `faults_unmet`) that names them, so that a test does not pass because its failure has
   * never come. Those that were disposed unmet count, too.
   */
  readonly unmetFaults?: UnmetFaults
  /**
   * Adds the header `Server-Timing` to every answer: how long the request was at each of its stages, which browsers show beside it.
   * Default: false. It shows every client how the server spends its time, so it is for development.
   */
  readonly serverTiming?: boolean
  /** Notes of whatever made the model, such as `fromJson`; `engine.notes` begins with them. Default: none. */
  readonly notes?: readonly string[]
  /**
   * Called with every error that is answered with a status of 500 or above. Default: the request and the error, with its stack, are written
   * to standard error, apart from a `RestError` that was thrown without a cause.
   */
  readonly onError?: (error: unknown, request: FailedRequest) => void
}

/** The options with their defaults. */
export type CheckedOptions = Required<
  Omit<EngineOptions, 'config' | 'database' | 'entities' | 'envelope' | 'functions' | 'limits' | 'lookup' | 'seed' | 'clock' | 'auth'>
> &
  Pick<EngineOptions, 'entities' | 'functions' | 'lookup' | 'seed' | 'clock' | 'auth'> & {
    readonly limits: Limits
    /** Undefined: answers have the engine's own form. */
    readonly envelope: CompiledEnvelope | undefined
    readonly database: string | ServerDatabase
  }
