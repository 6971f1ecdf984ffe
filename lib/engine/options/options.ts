/** The options of `RestEngine.create`, as given and as checked. */
import type { Options as OrmOptions } from '@mikro-orm/core'
import type { FailedRequest } from '../../foundation/errors/report-failure.ts'
import type { Wire } from '../../foundation/base/wire.ts'
import type { Limits } from '../../foundation/base/limits.ts'
import type { AuthModule } from '../auth/auth-module.ts'
import type { CustomParameter } from '../../records/access/access-rules.ts'
import type { ResourceDefinition } from '../../model/resource-config.ts'
import type { SharedScope } from '../../model/resource-rules.ts'
import type { UnmetFaults } from '../testing/fault-handle.ts'
import type { Route } from '../../records/request/custom-routes.ts'
import type { Seeds } from '../../model/seeds.ts'
import type { Evolving } from '../../records/database/evolving.ts'
import type { ServerDatabase, SqlFunctions } from '../../records/database/world-store.ts'
import type { CompiledEnvelope, EnvelopeOption } from './shape-answer.ts'

/** Options of `RestEngine.create`. */
export interface EngineOptions {
  /**
   * The config of an application's MikroORM, as `mikro-orm.config` exports it: an object, a list (`orm: { contextName }` chooses), a
   * function or a promise. Connects to `database`, else the config's SQLite file or PostgreSQL server, else SQLite in memory. Default:
   * none.
   */
  readonly config?: object
  /** Entities, in any form of MikroORM: `defineEntity`, `EntitySchema`, decorated classes, globs. Default: the tables of `database`. */
  readonly entities?: NonNullable<OrmOptions['entities']>
  /**
   * `:memory:` (the default); the path of a SQLite file, created when missing; a PostgreSQL database, as a URL
   * (`postgres://user@host/database`) or as `{ url, schema, poolSize, statementTimeout, prepare }`; or PGlite (`pglite:`, `pglite:DIR`).
   */
  readonly database?: string | URL | ServerDatabase
  /** In a page: the name under which the world outlives the page. Refused on Node, where `database` names a file. Default: none. */
  readonly persist?: string
  /**
   * `update` creates missing tables and columns, and drops nothing; `evolve` makes existing tables fit the entities, with all rows, after a
   * copy of a file; `keep` touches nothing; `migrate` runs the application's migrations, by `@mikro-orm/migrations`. Default: `update`;
   * without entities `keep`, the only choice.
   */
  readonly schema?: 'update' | 'keep' | 'evolve' | 'migrate'
  /**
   * For `schema: 'evolve'`: what rows without a value get. Default: the property's own default; otherwise `create` refuses such rows.
   *
   * @example { trips: { days: 1 } } // a value, by resource and property
   * @example { trips: { days: row => row.hours / 24 } } // a function of the old row
   * @example { addresses: { from: 'users', each: row => ({ id: row.id, street: row.street }) } } // rows of an empty table
   * @example { trips: 'made-up' } // or '*' for all resources
   */
  readonly fill?: Evolving['fill']
  /**
   * For `schema: 'evolve'`: old to new names of properties, by resource, and of entities: `{ notes: { title: 'headline' }, entities: {
   * Trip: 'Journey' } }`. Default: none, so old columns stay.
   */
  readonly renamed?: Evolving['renamed']
  /**
   * For `schema: 'evolve'`: drops columns and tables that the model lacks. `true`: only empty columns and tables (refuses if one has
   * values); a list, `['note.body', 'trip']`: these, values included; `all`: every one, values included. Default: false.
   */
  readonly drop?: Evolving['drop']
  /**
   * For `schema: 'evolve'`: number of copies of a file that stay, in a folder beside the file: `app.sqlite.copies`. 0: none is made.
   * Default: 10.
   */
  readonly copies?: number
  /**
   * Clients may only read, and log in and out: POST, PUT, PATCH and DELETE are 405. Nothing is created: tables and columns must be there.
   * Default: false.
   */
  readonly readOnly?: boolean
  /** Further MikroORM options, such as `namingStrategy`, `filters` or `subscribers`. The engine sets database, driver and entities. */
  readonly orm?: Partial<OrmOptions>
  /**
   * Functions that a SQLite file's triggers call, and that otherwise only the program owning the file defines: `{ title_sort: title => ...
   * }`. Functions take and give values of SQLite, synchronously. Default: none; `notes` names missing functions.
   */
  readonly functions?: SqlFunctions
  /** Finds the entity of a resource name in the URL, instead of the default look-up. Nothing means 404. */
  readonly lookup?: (name: string, version: string) => object | null | undefined
  /** Per-model customisation. */
  readonly resources?: readonly ResourceDefinition[]
  /**
   * Rules for all resources. `scope`: by property, a function of the caller: the rows with the returned value exist for the caller (a list:
   * any of the values; an object: a condition on the property; `true`: all rows; nothing: no rows). Holds for each resource with the
   * property, beside its own scopes; `notes` names resources without a scope. Default: none.
   *
   * @example { scope: { tenant: ctx => ctx.user?.tenant } }
   */
  readonly defaults?: { readonly scope?: SharedScope }
  /** The path before the version, such as `'/api'`, in links; a way in may have another base. Default: none. */
  readonly base?: string
  /** Accepted path segments after the base. Default: `['v1']`; `[]`: paths have no version. */
  readonly versions?: readonly string[]
  /** Guards against requests that ask for too much. */
  readonly limits?: Partial<Limits>
  /** Custom routes, before the default routes. */
  readonly routes?: readonly Route[]
  /** Renames a reserved parameter (`{ limit: 'per_page' }`), or adds a parameter: a function of the value gives a MikroORM FilterQuery. */
  readonly parameters?: Readonly<Record<string, string | CustomParameter>>
  /**
   * Takes forms as bodies of POST, PUT and PATCH, over HTTP, `fetch` and interception: `application/x-www-form-urlencoded`, and the text
   * fields of `multipart/form-data`. Any site's page can send a form: a cookie alone must not allow a write. Default: false: a form is 415.
   */
  readonly forms?: boolean
  /**
   * The grammar of an application's own backend, over HTTP, `fetch` and interception; a way in may have another. `engine.handle` keeps the
   * engine's grammar. Default: the engine's own.
   *
   * @example { wire: jsonServer() }
   */
  readonly wire?: Wire
  /** Log-in by token. Default: off. */
  readonly auth?: AuthModule
  /**
   * Records for empty tables, by resource name. A table with rows is left alone, with a note. Or a Seeder class of `@mikro-orm/seeder`, for
   * an empty database; `true`, for the seeder of MikroORM's config; or a list, in order. Default: none.
   */
  readonly seed?: Seeds
  /** Named seeds, each in the place of `seed`: see `engine.scenario`. Default: none. */
  readonly scenarios?: Readonly<Record<string, Seeds>>
  /** The source of all timestamps. Default: the system's clock. */
  readonly clock?: () => Date
  /** Status of a created record: 200 (the default) or 201. */
  readonly createdStatus?: 200 | 201
  /** Status of a deletion: 200 (the default), with the old record, or 204 without a body. */
  readonly deletedStatus?: 200 | 204
  /**
   * Another form of answers: templates of parts by key, perhaps with `{plural}` or `{singular}`, or `'bare'`. Inner requests keep the
   * engine's form. Default: the engine's form.
   *
   * @example { list: { '{plural}': 'records', '{plural}Count': 'count' }, record: { '{singular}': 'record' } }
   */
  readonly envelope?: EnvelopeOption
  /** Status of a body that the model refuses: 422 (the default) or 400. */
  readonly validationStatus?: 400 | 422
  /**
   * Entity tags of GET and HEAD, for `If-None-Match`: `version` (the default), of records with a visible version; `answer`, of all answers,
   * by a hash of the content.
   */
  readonly etag?: 'version' | 'answer'
  /** Number of newest requests that `engine.requests` keeps; 0: none. Default: 1000. */
  readonly journal?: number
  /**
   * What becomes of unmet faults and gates: `ignore` (the default), or `throw`: `reset`, `scenario` and `close` do their work, then reject
   * with a `RestError` (409 `faults_unmet`) that names each: no test passes because a failure never came.
   */
  readonly unmetFaults?: UnmetFaults
  /** Adds the header `Server-Timing` to answers, with the time of each stage, for development. Default: false. */
  readonly serverTiming?: boolean
  /** Notes of the model's maker, such as `fromJson`, at the start of `engine.notes`. Default: none. */
  readonly notes?: readonly string[]
  /**
   * Called with each error answered with a status of 500 or above. Default: writes request, error and stack to standard error, except a
   * `RestError` without a cause.
   */
  readonly onError?: (error: unknown, request: FailedRequest) => void
}

export type CheckedOptions = Required<
  Omit<
    EngineOptions,
    'config' | 'database' | 'entities' | 'envelope' | 'functions' | 'limits' | 'lookup' | 'persist' | 'seed' | 'clock' | 'auth' | 'wire'
  >
> &
  Pick<EngineOptions, 'entities' | 'functions' | 'lookup' | 'persist' | 'seed' | 'clock' | 'auth' | 'wire'> & {
    readonly limits: Limits
    /** `undefined` for the engine's own form. */
    readonly envelope: CompiledEnvelope | undefined
    readonly database: string | ServerDatabase
  }
