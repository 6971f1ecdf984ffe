/**
 * List of defects that `npm run defects` plants, one at a time: for each stage, database and wing at least one, among them those of
 * transports and of files.
 */

export interface Defect {
  readonly name: string
  /** In lib/. */
  readonly file: string
  /** Stands once in the file. */
  readonly find: string
  readonly replace: string
  /** The specs that are run, below spec/, without their ending. */
  readonly specs: readonly string[]
}

const TRANSPORTS: readonly Defect[] = [
  {
    name: 'a target of absolute form keeps its authority',
    file: 'doors/server/transport.ts',
    find: "return rest.startsWith('/') ? rest : `/${rest}`",
    replace: 'return `/${target}`',
    specs: ['server/http'],
  },
  {
    name: 'a body over HTTP of just the limit is refused while it comes',
    file: 'doors/server/json-body.ts',
    find: 'this.#bytes > this.#maxBytes',
    replace: 'this.#bytes >= this.#maxBytes',
    specs: ['server/http'],
  },
  {
    name: 'a body over HTTP may have one byte too many',
    file: 'doors/server/json-body.ts',
    find: 'return { maxBytes: limits.maxBodyBytes, method, takesForms:',
    replace: 'return { maxBytes: limits.maxBodyBytes + 1, method, takesForms:',
    specs: ['server/http'],
  },
  {
    name: 'an answer without a body has the body null',
    file: 'doors/server/transport.ts',
    find: 'text: body === undefined ? undefined : JSON.stringify(body)',
    replace: 'text: JSON.stringify(body ?? null)',
    specs: ['api/conditional-get', 'helpers/targets'],
  },
  {
    name: 'a cache may hand the answer of one origin to another',
    file: 'doors/server/cors.ts',
    find: "addVary(headers, 'Origin')",
    replace: 'void addVary',
    specs: ['server/http'],
  },
  {
    name: 'a request that a client has left is not aborted',
    file: 'doors/server/request-listener.ts',
    find: 'if (!response.writableFinished) client.leave(',
    replace: 'if (response.writableFinished) client.leave(',
    specs: ['server/http'],
  },
  {
    name: 'a server for reading takes writes',
    file: 'doors/server/request-listener.ts',
    find: 'return this.#readOnly && WRITE_METHODS',
    replace: 'return !this.#readOnly && WRITE_METHODS',
    specs: ['server/http'],
  },
  {
    name: 'a body in another charset is read',
    file: 'doors/server/json-body.ts',
    find: 'if (charset !== undefined && !/^utf-?8$/i.test(charset)) {',
    replace: 'if (charset === null) {',
    specs: ['server/http'],
  },
]

const FILES: readonly Defect[] = [
  {
    name: 'reset goes back to the present state of a file',
    file: 'databases/sqlite/content.ts',
    find: 'if (!this.#started) return\n',
    replace: 'if (!this.#started || this.#handle.hasPlace) return\n',
    specs: ['helpers/targets', 'pipeline/worlds'],
  },
  {
    name: 'restore keeps what was written in memory',
    file: 'databases/sqlite/content.ts',
    find: 'if (this.#image === image) return',
    replace: 'if (this.#image === image || this.#started) return',
    specs: ['pipeline/worlds'],
  },
  {
    name: 'values of others in a file are taken as the model says',
    file: 'databases/sqlite/open.ts',
    find: "const hasOtherWriters = database !== ':memory:' && !isNew",
    replace: 'const hasOtherWriters = false',
    specs: ['sqlite/orm/stored-forms', 'property/stored-forms'],
  },
  {
    name: 'a locked file is an error of the server',
    file: 'databases/sqlite/dialect.ts',
    find: "return 'busy'",
    replace: "return 'failed'",
    specs: ['sqlite/database-failures', 'sqlite/alone'],
  },
  {
    name: 'a database for reading is written to',
    file: 'databases/sqlite/content.ts',
    find: 'if (this.handle.readOnly) throw',
    replace: 'if (this.handle.readOnly && this.#started) void',
    specs: ['sqlite/read-only'],
  },
]

const STAGES: readonly Defect[] = [
  {
    name: 'parse: a slash at the end is another path',
    file: 'records/request/parse-request.ts',
    find: 'path.slice(0, -1) : path',
    replace: 'path : path',
    specs: ['api/paths'],
  },
  {
    name: 'parse: a query of an object is read once',
    file: 'records/request/parsed-query.ts',
    find: 'text += `${name}\\0${value}\\0`',
    replace: 'text += `${name}\\0`',
    specs: ['api/paging', 'helpers/targets'],
  },
  {
    name: 'authenticate: a token of a second ago is still good',
    file: 'engine/auth/tokens.ts',
    find: 'if (claims.exp <= now)',
    replace: 'if (claims.exp < now)',
    specs: ['auth/tokens'],
  },
  {
    name: 'authenticate: a restored world remembers its log-outs',
    file: 'engine/auth/tokens.ts',
    find: 'this.#revoked.clear()',
    replace: 'void this.#revoked',
    specs: ['pipeline/worlds'],
  },
  {
    name: 'throttle: a sixth attempt is checked',
    file: 'engine/auth/throttle.ts',
    find: 'MAX_FAILURES = 5',
    replace: 'MAX_FAILURES = 6',
    specs: ['auth/throttle'],
  },
  {
    name: 'resolve: a fifth segment is ignored',
    file: 'records/access/resolve-path.ts',
    find: 'resource }\n  if (excess !== undefined) throw',
    replace: 'resource }\n  if (excess === null) throw',
    specs: ['api/paths'],
  },
  {
    name: 'check parameters: one record takes those of lists',
    file: 'records/access/check-parameters.ts',
    find: "method === 'DELETE' && isList ? BY_DELETION : BY_RECORD",
    replace: "method === 'DELETE' && isList ? BY_DELETION : BY_LIST",
    specs: ['api/filtering-refusals', 'api/bad-input'],
  },
  {
    name: 'visibility: of two scopes one holds',
    file: 'records/access/access-rules.ts',
    find: "{ kind: 'all', of: conditions }",
    replace: "{ kind: 'any', of: conditions }",
    specs: ['customise/conditions', 'customise/rules-matrix'],
  },
  {
    name: 'plan: the key alone, descending, is ascending',
    file: 'records/plan/order.ts',
    find: '&& !keys[0]!.descending',
    replace: '',
    specs: ['api/sorting'],
  },
  {
    name: 'compile: not loses its third value',
    file: 'databases/sql/condition.ts',
    find: ') is not true`',
    replace: ') = false`',
    specs: ['api/filtering', 'property/filtering'],
  },
  {
    name: 'respond: the link to the next page is one too far',
    file: 'engine/pipeline/respond.ts',
    find: 'offset + pages * limit)',
    replace: 'offset + pages * limit + (pages === 1 ? 1 : 0))',
    specs: ['api/paging'],
  },
  {
    name: 'respond: a 304 has no tag',
    file: 'engine/pipeline/conditional.ts',
    find: "const KEPT_HEADERS = ['etag', ",
    replace: 'const KEPT_HEADERS = [',
    specs: ['api/conditional-get'],
  },
  {
    name: 'negotiate: ranges of the same weight go by their order',
    file: 'foundation/http/accept.ts',
    find: 'if (specificity <= best) continue',
    replace: 'if (best >= 0) continue',
    specs: ['base/accept'],
  },
  {
    name: 'validate: a value that nobody may see is repeated',
    file: 'records/validate/validate-scalar.ts',
    find: 'return hidden ? {} : { value }',
    replace: 'return { value }',
    specs: ['api/validation'],
  },
  {
    name: 'validate: what is required may be left out',
    file: 'records/validate/required-attributes.ts',
    find: 'if (!attribute.required) continue',
    replace: 'if (attribute.required) continue',
    specs: ['api/creating'],
  },
  {
    name: 'check: two records of a body share what is unique',
    file: 'records/validate/check-database.ts',
    find: '    seen.add(text)\n',
    replace: '',
    specs: ['api/bulk', 'api/validation', 'api/seed'],
  },
  {
    name: 'apply: a version may be written',
    file: 'records/unit-of-work/apply.ts',
    find: 'change.values.filter(({ attribute }) => !(attribute.kind',
    replace: 'change.values.filter(({ attribute }) => (attribute.kind',
    specs: ['kinds/versions'],
  },
  {
    name: 'precondition: any tag matches',
    file: 'records/validate/precondition.ts',
    find: "given === '*' || readVersion(given) === tag",
    replace: "given === '*' || readVersion(given) !== ''",
    specs: ['kinds/versions'],
  },
  {
    name: 'write: a record may leave the scope of its writer',
    file: 'records/statements/row-rules.ts',
    find: 'if (!this.hides(resource) || (yield*',
    replace: 'if (true || (yield*',
    specs: ['customise/conditions', 'customise/rules-matrix'],
  },
  {
    name: 'lock: a second holder enters',
    file: 'foundation/async/lock.ts',
    find: 'return this.held ? this.#turn',
    replace: 'return false ? this.#turn',
    specs: ['api/transactions'],
  },
  {
    name: 'lock: it is released twice',
    file: 'foundation/async/lock.ts',
    find: '      if (released) return\n',
    replace: '',
    specs: ['base/lock'],
  },
]

const WINGS: readonly Defect[] = [
  {
    name: 'journal: a token stands in it',
    file: 'engine/journal/redact.ts',
    find: 'const TOKEN = /eyJ',
    replace: 'const TOKEN = /eyK',
    specs: ['journal/journal'],
  },
  {
    name: 'worlds: those who wait for a world that is replaced get its answer',
    file: 'engine/pipeline/lifecycle.ts',
    find: '    previous.abort(connectionLost(',
    replace: '    void (connectionLost(',
    specs: ['pipeline/worlds'],
  },
  {
    name: 'openapi: no attribute is required',
    file: 'description/openapi/record-schemas.ts',
    find: 'required, isOpen })',
    replace: 'required: [], isOpen })',
    specs: ['openapi/document'],
  },
  {
    name: 'client: calls have no token',
    file: 'model/client/client.ts',
    find: 'token === undefined ? {} : {',
    replace: 'token !== undefined ? {} : {',
    specs: ['client/client'],
  },
  {
    name: 'decode: a decimal of a number is a text',
    file: 'databases/sqlite/sql/decode.ts',
    find: 'type.asNumber === true ? decodeNumber : (value',
    replace: '(value',
    specs: ['kinds/everything', 'property/values'],
  },
]

const POSTGRES: readonly Defect[] = [
  {
    name: 'PostgreSQL: a record is removed ahead of the second statement that reads it',
    file: 'databases/postgres/readings.ts',
    find: 'if (isLastBatch(sent)) behind?.()',
    replace: 'if (sent === batch) behind?.()',
    specs: ['postgres/same-models'],
  },
  {
    name: 'PostgreSQL: NULL is sorted last',
    file: 'databases/postgres/sql/flavour.ts',
    find: "descending ? 'last' : 'first'",
    replace: "descending ? 'first' : 'last'",
    specs: ['api/sorting'],
  },
  {
    name: 'PostgreSQL: a writing transaction sees what others commit meanwhile',
    file: 'databases/postgres/units-of-work.ts',
    find: 'begin isolation level repeatable read',
    replace: 'begin isolation level read committed',
    specs: ['postgres/hot-records', 'api/transactions', 'postgres/planned-writes'],
  },
]

export const DEFECTS: readonly Defect[] = [...TRANSPORTS, ...FILES, ...STAGES, ...WINGS, ...POSTGRES]
