/** Public API. */
export { RestEngine } from './engine.ts'
export type { HandleContext } from './pipeline/handle.ts'
export type { ExplainedStatement, Explanation, IndexHint } from './journal/explanation.ts'
export type { PlanStep } from './database/explained-statements.ts'
export { RestError, ERRORS, FIELD_ERRORS } from './base/errors.ts'
export type { ErrorCode, FieldError, FieldErrorCode, RefusalDetails } from './base/errors.ts'
export type { FaultHandle, Gate } from './testing/fault-injection.ts'
export type { DropOptions, FailOptions, FailureDetails, FaultOptions } from './testing/fault-options.ts'
export type { FaultRequest, RequestMatch } from './testing/fault-request.ts'
export { createServer } from './server/http.ts'
export type { RequestLine, ServerOptions } from './server/server-options.ts'
export type { TestControlOptions } from './server/test-controls.ts'
export type { InterceptOptions, Interception } from './server/intercept/intercept.ts'
export type { CorsOrigins } from './server/cors.ts'
export { fileType } from './model/metadata/file-type.ts'
export type { FileType } from './model/metadata/file-type.ts'
export { fromJson } from './json-model/from-json.ts'
export type { FromJsonOptions, JsonData, JsonModel } from './json-model/from-json.ts'
export { auth } from './auth/auth-options.ts'
export type { AuthModule, AuthOptions } from './auth/auth-options.ts'
export type { Action, Claims, EngineHandle, HandlerResponse, HookContext, Wrapper } from './request/hook-context.ts'
export type { CustomParameter } from './access/access-rules.ts'
export { hashPassword } from './auth/password.ts'
export { resource } from './model/resource-config.ts'
export type {
  AccessRule,
  AttributeRules,
  ComputedAttribute,
  ComputedGroup,
  JsonOf,
  PropertyName,
  ResourceConfig,
  ResourceDefinition,
  SqlFragment,
} from './model/resource-config.ts'
export type { Route } from './request/custom-routes.ts'
export type { PublicKey } from './auth/tokens.ts'
export type { Change } from './journal/changes.ts'
export type { ExpectedChange, ExpectedChanges, RowCounts } from './journal/expect-changes.ts'
export type { JournalEntry } from './journal/journal.ts'
export { Clock } from './base/clock.ts'
export type { ClockSetting } from './base/clock.ts'
export { Snapshot } from './pipeline/snapshot.ts'
export type { Give, GivenOptions, GivenRecord } from './testing/given.ts'
export type { Overrides } from './testing/record-drafts.ts'
export type { FailedRequest } from './base/report-failure.ts'
export type { EngineOptions } from './pipeline/options.ts'
export type { SeedData } from './write/seed-rows.ts'
export type { OpenApiOptions } from './pipeline/descriptions.ts'
export type { OpenApiDocument } from './openapi/document.ts'
export type { Limits } from './base/limits.ts'
export type { QueryInput, QueryValue } from './request/query-string.ts'
export type { RestResponse } from './base/response.ts'
export type { ScalarKind, ScalarType } from './values/scalar-type.ts'
export type { StoredTime } from './values/stored-time.ts'
