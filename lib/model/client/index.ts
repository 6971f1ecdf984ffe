/** The entry `mikro-rest/client`: without the engine. */
export { client } from './client.ts'
export type { ClientOptions } from './client.ts'
export type {
  CallOptions,
  Client,
  ClientEntities,
  ClientMethods,
  Deleted,
  OwnChange,
  Page,
  RelatedClient,
  ResourceClient,
} from './client-types.ts'
export type { ClientEntity, Id, PropertiesIn, PropertiesOf, RelationName, ValueIn, VisibleName, WithIds, WithKeys } from './entity-types.ts'
export { literal } from './query-text.ts'
export type { Filters, ListQuery, PageQuery, RecordQuery, Search, SortKey } from './query-types.ts'
export type { FreeParameters } from './query-names.ts'
export type { BodyValue, Depth, Expandable, ListChange, RecordBody, Selectable, ShownRecord } from './record-types.ts'
export type { ClientTarget, EngineTarget, FetchTarget } from './transport.ts'
export { RestError } from '../../foundation/errors/errors.ts'
