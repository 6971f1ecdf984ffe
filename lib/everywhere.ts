/** The public exports for Node and pages, without types of Node. */
export { RestEngine } from './engine.ts'
export type { SendOptions } from './engine/pipeline/sent-request.ts'
export type { HandleContext, HeldRequest } from './engine/pipeline/arrival.ts'
export type { ExplainedStatement, Explanation, IndexHint } from './engine/journal/explanation.ts'
export type { PlanStep } from './records/database/explained-statements.ts'
export { RestError, ERRORS, FIELD_ERRORS } from './foundation/errors/errors.ts'
export type { ErrorCode, FieldError, FieldErrorCode, RefusalDetails } from './foundation/errors/errors.ts'
export type { FaultHandle, FaultState, Gate, PendingFault } from './engine/testing/fault-handle.ts'
export type { Delay } from './engine/testing/fault-rule.ts'
export type { DropOptions, FailOptions, FailureDetails, FaultOptions } from './engine/testing/fault-options.ts'
export type { LatencyProfile } from './engine/testing/latency.ts'
export type { RateLimit } from './engine/testing/rate-limit.ts'
export type { FaultRequest, RequestMatch } from './engine/testing/fault-request.ts'
export type {
  Wire,
  WireAnswer,
  WireApi,
  WireAttribute,
  WireError,
  WireExpanded,
  WireList,
  WireLogIn,
  WireQuery,
  WireRequest,
  WireResource,
} from './foundation/base/wire.ts'
export { client } from './model/client/client.ts'
export type { ClientOptions } from './model/client/client.ts'
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
} from './model/client/client-types.ts'
export type {
  ClientEntity,
  Id,
  PropertiesIn,
  PropertiesOf,
  RelationName,
  ValueIn,
  VisibleName,
  WithIds,
  WithKeys,
} from './model/client/entity-types.ts'
export type { Filters, ListQuery, PageQuery, RecordQuery, Search, SortKey } from './model/client/query-types.ts'
export type { FreeParameters } from './model/client/query-names.ts'
export type { BodyValue, Depth, Expandable, ListChange, RecordBody, Selectable, ShownRecord } from './model/client/record-types.ts'
export type { ResourceNames } from './model/client/resource-names.ts'
export { literal } from './model/client/query-text.ts'
export type { ClientTarget } from './model/client/transport.ts'
export type { InterceptOptions, Interception } from './doors/server/intercept/intercept.ts'
export { fromJson } from './model/json-model/from-json.ts'
export type { FromJsonOptions, JsonData, JsonModel } from './model/json-model/from-json.ts'
export { auth } from './engine/auth/auth-options.ts'
export type { AuthModule } from './engine/auth/auth-module.ts'
export type { AuthOptions } from './engine/auth/auth-module.ts'
export type {
  Action,
  AskOptions,
  Claims,
  EngineHandle,
  HandlerResponse,
  HookContext,
  RequestEntityManager,
  Wrapper,
} from './model/hook-context.ts'
export type { CustomParameter } from './records/access/access-rules.ts'
export { hashPassword } from './engine/auth/password.ts'
export { resource } from './model/resource-config.ts'
export type {
  AccessRule,
  AttributeRules,
  ComputedAttribute,
  ComputedGroup,
  FillRule,
  JsonOf,
  MarkOption,
  OpenOption,
  PropertyName,
  RelationPath,
  ResourceConfig,
  ResourceDefinition,
  ResourceParameter,
  SqlFragment,
  SqlParameter,
  WriteRule,
} from './model/resource-config.ts'
export type { SchemaIssue, StandardSchema } from './model/resource-config.ts'
export type { Route } from './records/request/custom-routes.ts'
export type { PublicKey } from './engine/auth/authentication.ts'
export type { Change } from './engine/journal/changes.ts'
export type { ExpectedChange, ExpectedChanges, RowCounts } from './engine/journal/expected-changes.ts'
export type { JournalEntry, RequestSummary } from './engine/journal/journal-entry.ts'
export type { Har, HarEntry, HarOptions, HarPair } from './engine/journal/har.ts'
export type { RecordOptions, Recorded } from './engine/recording/recorded.ts'
export type { EngineEvent, ListenOptions, Mark } from './engine/testing/events.ts'
export type { Clock } from './foundation/async/clock.ts'
export type { ClockSetting } from './foundation/async/clock.ts'
export type { RequestPoint, Snapshot } from './engine/worlds/snapshot.ts'
export type { Give, GivenOptions, GivenRecord, Overrides } from './engine/testing/given-options.ts'
export type { FailedRequest } from './foundation/errors/report-failure.ts'
export type { EngineOptions } from './engine/options/options.ts'
export type { EnvelopeOption, ErrorBody } from './engine/options/shape-answer.ts'
export type { EnvelopeTemplate, EnvelopeTemplates } from './foundation/http/envelope-template.ts'
export type { SeedData } from './model/seeds.ts'
export type { DiagramOptions, OpenApiOptions } from './engine/assembly/descriptions.ts'
export type { SelfTestOptions } from './checks/self-test/options.ts'
export type { SelfTestCheck, SelfTestFailure, SelfTestReport, SelfTestRequest } from './checks/self-test/report.ts'
export type { OpenApiDocument } from './description/openapi/openapi-document.ts'
export type { Limits } from './foundation/base/limits.ts'
export type { QueryConditions, QueryInput, QueryValue } from './foundation/base/query-input.ts'
export type { RestResponse } from './foundation/base/response.ts'
export type { ScalarKind, ScalarType } from './foundation/values/scalar-type.ts'
export type { StoredTime } from './databases/sqlite/sql/stored-time.ts'
