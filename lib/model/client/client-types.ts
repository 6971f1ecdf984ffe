/** Client types: the methods of the typed client, of which there is one set for each resource. */
import type { BodyValue, Depth, Expandable, RecordBody, Selectable, ShownRecord } from './record-types.ts'
import type { ClientEntity, Id, KindIn, ListName, PropertiesIn, PropertiesOf, RelationName, ValueIn, VisibleName } from './entity-types.ts'
import type { PageQuery, RecordQuery, Search } from './query-types.ts'

/** What goes with one call. */
export interface CallOptions {
  /** Ends the call: it rejects with the reason of the signal. */
  readonly signal?: AbortSignal
  /** Headers beside those of the client. */
  readonly headers?: Readonly<Record<string, string>>
}

/** A page of a list. */
export interface Page<R> {
  readonly items: R[]
  /** The number of records that match, on all pages. */
  readonly count: number
  /** The largest number of records on a page, as it is in effect. */
  readonly limit: number
  readonly offset: number
  readonly sort: string | null
  /** The filters in effect: pairs of a name with its operator, and a value. */
  readonly filter: readonly (readonly [string, string])[]
  /** The path of the page before this one; null for the first. */
  readonly previous: string | null
  /** The path of the next page; null for the last. */
  readonly next: string | null
}

/** Records that a list has lost. */
export interface Deleted<R> {
  readonly items: R[]
  readonly count: number
}

type LinkedProperties<P, K extends keyof P> = PropertiesOf<ValueIn<P[K]>>
type ValueName<P> = { [K in VisibleName<P>]: KindIn<P[K]> extends 'toMany' ? never : K }[VisibleName<P>]
type ToOneName<P> = { [K in VisibleName<P>]: KindIn<P[K]> extends 'toOne' ? K : never }[VisibleName<P>]

/** The calls for one resource. `P`: the properties of its entity. */
export interface ResourceClient<P> {
  /** Reads a page of the list. */
  list<const D extends Depth = 1, const X extends Expandable<P> = never, const A extends Selectable<P> = never>(
    query?: PageQuery<D, X, A> & Search<P>,
    options?: CallOptions,
  ): Promise<Page<ShownRecord<P, D, X, A>>>

  /** Reads the page of this number; the first is 1. `limit` is the size of all pages, 100 unless it is given. */
  page<const D extends Depth = 1, const X extends Expandable<P> = never, const A extends Selectable<P> = never>(
    number: number,
    query?: PageQuery<D, X, A> & Search<P>,
    options?: CallOptions,
  ): Promise<Page<ShownRecord<P, D, X, A>>>

  /** Reads all records of the list, page after page as they are taken. */
  all<const D extends Depth = 1, const X extends Expandable<P> = never, const A extends Selectable<P> = never>(
    query?: PageQuery<D, X, A> & Search<P>,
    options?: CallOptions,
  ): AsyncGenerator<ShownRecord<P, D, X, A>, void, undefined>

  /** Reads one record. */
  get<const D extends Depth = 1, const X extends Expandable<P> = never, const A extends Selectable<P> = never>(
    id: Id,
    query?: RecordQuery<D, X, A>,
    options?: CallOptions,
  ): Promise<ShownRecord<P, D, X, A>>

  /** Creates a record (POST). Objects in relations create related records, IDs link them. */
  create<const D extends Depth = 1, const X extends Expandable<P> = never, const A extends Selectable<P> = never>(
    body: RecordBody<P>,
    query?: RecordQuery<D, X, A>,
    options?: CallOptions,
  ): Promise<ShownRecord<P, D, X, A>>

  /** Changes the given attributes of a record (PATCH). */
  update<const D extends Depth = 1, const X extends Expandable<P> = never, const A extends Selectable<P> = never>(
    id: Id,
    body: RecordBody<P>,
    query?: RecordQuery<D, X, A>,
    options?: CallOptions,
  ): Promise<ShownRecord<P, D, X, A>>

  /** Deletes a record, and gives it as it was. */
  delete<const D extends Depth = 1, const X extends Expandable<P> = never, const A extends Selectable<P> = never>(
    id: Id,
    query?: RecordQuery<D, X, A>,
    options?: CallOptions,
  ): Promise<ShownRecord<P, D, X, A>>

  /** Reads the value of one attribute, or the record that a relation leads to. */
  getAttribute<const K extends ValueName<P>>(
    id: Id,
    attribute: K,
    options?: CallOptions,
  ): Promise<ShownRecord<P, 1, K & RelationName<P>>[K & keyof ShownRecord<P, 1, K & RelationName<P>>]>

  /**
   * Sets one attribute (PUT), and gives its record. For a relation to one record an ID links, null unlinks, an object changes the linked
   * record; for a list of records an array of IDs and objects replaces the list.
   */
  setAttribute<const K extends VisibleName<P>>(id: Id, attribute: K, value: BodyValue<P[K]>, options?: CallOptions): Promise<ShownRecord<P>>

  /** Deletes the record that a relation leads to, and the reference to it. */
  deleteAttribute<const K extends ToOneName<P>>(id: Id, attribute: K, options?: CallOptions): Promise<ShownRecord<LinkedProperties<P, K>>>

  /** Sets a mark of the caller on a record (`resource(Article, { marks })`), and gives the record. */
  mark(id: Id, name: string, options?: CallOptions): Promise<ShownRecord<P>>

  /** Takes a mark of the caller away, and gives the record. */
  unmark(id: Id, name: string, options?: CallOptions): Promise<ShownRecord<P>>

  /** The list of related records of one record. */
  related<const K extends ListName<P>>(id: Id, attribute: K): RelatedClient<LinkedProperties<P, K>>
}

/** The calls for a list of related records. `P`: the properties of their entity. */
export interface RelatedClient<P> extends Pick<ResourceClient<P>, 'list' | 'page' | 'all' | 'get'> {
  /** Creates a record and appends it (POST). */
  create<const D extends Depth = 1, const X extends Expandable<P> = never, const A extends Selectable<P> = never>(
    body: RecordBody<P>,
    query?: RecordQuery<D, X, A>,
    options?: CallOptions,
  ): Promise<ShownRecord<P, D, X, A>>

  /** Links a record that is there (PUT); one that is linked already stays so. Returns the record that has the list. */
  link(id: Id, options?: CallOptions): Promise<Readonly<Record<string, unknown>>>

  /** Unlinks a record, which stays where the model lets it (PUT). Returns the record that has the list. */
  unlink(id: Id, options?: CallOptions): Promise<Readonly<Record<string, unknown>>>

  /** Deletes the related records that meet the filters; all of them without filters. */
  delete<const D extends Depth = 1, const X extends Expandable<P> = never, const A extends Selectable<P> = never>(
    query?: PageQuery<D, X, A> & Search<P>,
    options?: CallOptions,
  ): Promise<Deleted<ShownRecord<P, D, X, A>>>
}

/** The entities of a client, by the name of their resource in paths. */
export type ClientEntities = Readonly<Record<string, ClientEntity>>

/** What a change of the token's user gives. */
export interface OwnChange<M extends ClientEntities> {
  // oxlint-disable-next-line typescript/no-explicit-any -- the client does not know which of its entities is that of the users
  readonly user: Readonly<Record<string, any>>
  readonly api: Client<M>
}

/** Calls that concern no one resource. */
export interface ClientMethods<M extends ClientEntities> {
  /** Logs in, and gives a client whose calls carry the token. */
  login(credentials: Readonly<Record<string, unknown>>, options?: CallOptions): Promise<Client<M>>
  /** Creates a user, and gives a client whose calls carry its token. The option `paths` says where. */
  signUp(body: Readonly<Record<string, unknown>>, options?: CallOptions): Promise<Client<M>>
  /** The record of the token's user; the whole answer where the application decides what it is. The option `paths` says where. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the client does not know which of its entities is that of the users
  me(options?: CallOptions): Promise<Readonly<Record<string, any>>>
  /** Changes the record of the token's user; gives it, and a client that stays logged in where the password has changed. */
  updateMe(body: Readonly<Record<string, unknown>>, options?: CallOptions): Promise<OwnChange<M>>
  /**
   * Takes the refresh token of the log-in that has given this client, or that of the browser's cookie, for new tokens; gives a client with
   * them. It works once.
   */
  refresh(options?: CallOptions): Promise<Client<M>>
  /** Ends the token of this client. */
  logout(options?: CallOptions): Promise<void>
  /** Gives a client whose calls carry the token: of a log-in, or of `engine.token(user)`. */
  withToken(token: string): Client<M>
  /** Gives a client whose calls carry the headers, beside those of this one. */
  withHeaders(headers: Readonly<Record<string, string>>): Client<M>
}

/** A typed client: the calls for each resource, by its name. */
export type Client<M extends ClientEntities> = { readonly [K in keyof M]: ResourceClient<PropertiesIn<M[K]>> } & ClientMethods<M>
