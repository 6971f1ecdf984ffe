/** The types of the typed client's methods, such as `client(engine, { users: User }).users.list(…)`. */
import type { BodyValue, Depth, Expandable, RecordBody, Selectable, ShownRecord } from './record-types.ts'
import type { ClientEntity, Id, KindIn, ListName, PropertiesIn, PropertiesOf, RelationName, ValueIn, VisibleName } from './entity-types.ts'
import type { Filters, PageQuery, RecordQuery, Search } from './query-types.ts'

/** Options of one call. */
export interface CallOptions {
  /** Aborts the call, which rejects with the signal's reason. */
  readonly signal?: AbortSignal
  /** Added to headers of the client. */
  readonly headers?: Readonly<Record<string, string>>
}

/** A page of a list. */
export interface Page<R> {
  readonly items: R[]
  /** Matching records on all pages. */
  readonly count: number
  /** Maximum records per page, as applied. */
  readonly limit: number
  /** A text in pages by keys. */
  readonly offset: number | string
  readonly sort: string | null
  /** Applied filters: pairs of a name with operator, and a value. */
  readonly filter: readonly (readonly [string, string])[]
  /** Path; null on the first page. */
  readonly previous: string | null
  /** Path; null on the last page. */
  readonly next: string | null
}

/** The answer to a change or deletion of many records. */
export interface Deleted<R> {
  readonly items: R[]
  readonly count: number
}

type LinkedProperties<P, K extends keyof P> = PropertiesOf<ValueIn<P[K]>>
type ValueName<P> = { [K in VisibleName<P>]: KindIn<P[K]> extends 'toMany' ? never : K }[VisibleName<P>]
type ToOneName<P> = { [K in VisibleName<P>]: KindIn<P[K]> extends 'toOne' ? K : never }[VisibleName<P>]

/** `P`: the properties of the entity. */
export interface ResourceClient<P> {
  /** Reads a page. */
  list<const D extends Depth = 1, const X extends Expandable<P> = never, const A extends Selectable<P> = never>(
    query?: PageQuery<D, X, A> & Search<P>,
    options?: CallOptions,
  ): Promise<Page<ShownRecord<P, D, X, A>>>

  /** Reads a page by number, from 1. Default of `limit`, the size of all pages: 100. */
  page<const D extends Depth = 1, const X extends Expandable<P> = never, const A extends Selectable<P> = never>(
    number: number,
    query?: PageQuery<D, X, A> & Search<P>,
    options?: CallOptions,
  ): Promise<Page<ShownRecord<P, D, X, A>>>

  /** Reads all records, page by page as the loop goes on. */
  all<const D extends Depth = 1, const X extends Expandable<P> = never, const A extends Selectable<P> = never>(
    query?: PageQuery<D, X, A> & Search<P>,
    options?: CallOptions,
  ): AsyncGenerator<ShownRecord<P, D, X, A>, void, undefined>

  get<const D extends Depth = 1, const X extends Expandable<P> = never, const A extends Selectable<P> = never>(
    id: Id,
    query?: RecordQuery<D, X, A>,
    options?: CallOptions,
  ): Promise<ShownRecord<P, D, X, A>>

  /** Creates a record. In relations, objects create related records and IDs link records. */
  create<const D extends Depth = 1, const X extends Expandable<P> = never, const A extends Selectable<P> = never>(
    body: RecordBody<P>,
    query?: RecordQuery<D, X, A>,
    options?: CallOptions,
  ): Promise<ShownRecord<P, D, X, A>>

  /** Changes the record with the body's values of a unique key, or creates one. */
  upsert<const D extends Depth = 1, const X extends Expandable<P> = never, const A extends Selectable<P> = never>(
    by: keyof RecordBody<P> | readonly (keyof RecordBody<P>)[],
    body: RecordBody<P>,
    query?: RecordQuery<D, X, A>,
    options?: CallOptions,
  ): Promise<ShownRecord<P, D, X, A>>

  /** Changes the given attributes (PATCH). */
  update<const D extends Depth = 1, const X extends Expandable<P> = never, const A extends Selectable<P> = never>(
    id: Id,
    body: RecordBody<P>,
    query?: RecordQuery<D, X, A>,
    options?: CallOptions,
  ): Promise<ShownRecord<P, D, X, A>>

  /** Returns the deleted record. */
  delete<const D extends Depth = 1, const X extends Expandable<P> = never, const A extends Selectable<P> = never>(
    id: Id,
    query?: RecordQuery<D, X, A>,
    options?: CallOptions,
  ): Promise<ShownRecord<P, D, X, A>>

  /** Changes all records matching the filters, at most `limit`, or none (PATCH). */
  updateWhere<const D extends Depth = 1, const X extends Expandable<P> = never, const A extends Selectable<P> = never>(
    query: RecordQuery<D, X, A> & Filters<P> & { readonly limit: number },
    body: RecordBody<P>,
    options?: CallOptions,
  ): Promise<Deleted<ShownRecord<P, D, X, A>>>

  /** Deletes all records matching the filters, at most `limit`, or none. */
  deleteWhere<const D extends Depth = 1, const X extends Expandable<P> = never, const A extends Selectable<P> = never>(
    query: RecordQuery<D, X, A> & Filters<P> & { readonly limit: number },
    options?: CallOptions,
  ): Promise<Deleted<ShownRecord<P, D, X, A>>>

  /** Reads an attribute; of a relation, the linked record. */
  getAttribute<const K extends ValueName<P>>(
    id: Id,
    attribute: K,
    options?: CallOptions,
  ): Promise<ShownRecord<P, 1, K & RelationName<P>>[K & keyof ShownRecord<P, 1, K & RelationName<P>>]>

  /**
   * Sets an attribute (PUT). A relation to a single record takes an ID (links), null (unlinks) or an object (changes the linked record); a
   * list takes a new array of IDs and objects.
   */
  setAttribute<const K extends VisibleName<P>>(id: Id, attribute: K, value: BodyValue<P[K]>, options?: CallOptions): Promise<ShownRecord<P>>

  /** Deletes the linked record, and the link. */
  deleteAttribute<const K extends ToOneName<P>>(id: Id, attribute: K, options?: CallOptions): Promise<ShownRecord<LinkedProperties<P, K>>>

  /** Sets a mark of the caller (`resource(Article, { marks })`). */
  mark(id: Id, name: string, options?: CallOptions): Promise<ShownRecord<P>>

  /** Removes a mark of the caller. */
  unmark(id: Id, name: string, options?: CallOptions): Promise<ShownRecord<P>>

  related<const K extends ListName<P>>(id: Id, attribute: K): RelatedClient<LinkedProperties<P, K>>
}

/** `P`: the properties of the related entity. */
export interface RelatedClient<P> extends Pick<ResourceClient<P>, 'list' | 'page' | 'all' | 'get'> {
  create<const D extends Depth = 1, const X extends Expandable<P> = never, const A extends Selectable<P> = never>(
    body: RecordBody<P>,
    query?: RecordQuery<D, X, A>,
    options?: CallOptions,
  ): Promise<ShownRecord<P, D, X, A>>

  /** Links an existing record. Returns the record with the list. */
  link(id: Id, options?: CallOptions): Promise<Readonly<Record<string, unknown>>>

  /** Unlinks a record; the model may then delete the record. Returns the record with the list. */
  unlink(id: Id, options?: CallOptions): Promise<Readonly<Record<string, unknown>>>

  /** Deletes the related records matching the filters; without filters all. */
  delete<const D extends Depth = 1, const X extends Expandable<P> = never, const A extends Selectable<P> = never>(
    query?: PageQuery<D, X, A> & Search<P>,
    options?: CallOptions,
  ): Promise<Deleted<ShownRecord<P, D, X, A>>>
}

/** Entities by resource name. */
export type ClientEntities = Readonly<Record<string, ClientEntity>>

/** The changed own user, and a client with a valid token. */
export interface OwnChange<M extends ClientEntities> {
  // oxlint-disable-next-line typescript/no-explicit-any -- the client does not know which of its entities is that of the users
  readonly user: Readonly<Record<string, any>>
  readonly api: Client<M>
}

/** Calls outside resources. */
export interface ClientMethods<M extends ClientEntities> {
  /** Logs in. Returns a client with the token. */
  login(credentials: Readonly<Record<string, unknown>>, options?: CallOptions): Promise<Client<M>>
  /** Creates a user at `paths.signUp`. Returns a client with the user's token. */
  signUp(body: Readonly<Record<string, unknown>>, options?: CallOptions): Promise<Client<M>>
  /** Reads the token's user at `paths.me`, or the whole answer, if in the application's form. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the client does not know which of its entities is that of the users
  me(options?: CallOptions): Promise<Readonly<Record<string, any>>>
  /** Changes the token's user. The returned client stays logged in after a change of the password. */
  updateMe(body: Readonly<Record<string, unknown>>, options?: CallOptions): Promise<OwnChange<M>>
  /** Exchanges the refresh token of the client or of the browser's cookie, once. Returns a client with new tokens. */
  refresh(options?: CallOptions): Promise<Client<M>>
  /** Ends the token of the client. */
  logout(options?: CallOptions): Promise<void>
  /** Takes the token of a log-in or of `engine.token(user)`. */
  withToken(token: string): Client<M>
  /** Keeps other headers. */
  withHeaders(headers: Readonly<Record<string, string>>): Client<M>
}

/** A typed client. */
export type Client<M extends ClientEntities> = { readonly [K in keyof M]: ResourceClient<PropertiesIn<M[K]>> } & ClientMethods<M>
