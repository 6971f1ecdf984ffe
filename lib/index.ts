/** Public API. */
export { RestEngine } from './engine.ts'
export type { HandleContext } from './handle.ts'
export type { ExplainedStatement, Explanation, IndexHint } from './explanation.ts'
export type { PlanStep } from './dialect.ts'
export { RestError, ERRORS, FAULTS } from './errors.ts'
export type { ErrorCode, Fault, FaultCode, RefusalDetails } from './errors.ts'
export type { DropOptions, FailOptions, FailureDetails, FaultHandle, FaultOptions, FaultRequest, Gate, RequestMatch } from './faults.ts'
export { createServer } from './http.ts'
export type { RequestLine, ServerOptions } from './http.ts'
export type { TestControlOptions } from './test-controls.ts'
export type { InterceptOptions, Interception } from './intercept.ts'
export type { CorsOrigins } from './cors.ts'
export { fileType } from './file-type.ts'
export type { FileType } from './file-type.ts'
export { fromJson } from './from-json.ts'
export type { FromJsonOptions, JsonData, JsonModel } from './from-json.ts'
export { auth } from './auth.ts'
export type { AuthModule, AuthOptions } from './auth.ts'
export type { Action, Claims, EngineHandle, HandlerResponse, HookContext, Wrapper } from './context.ts'
export type { OwnParameter } from './caller.ts'
export { hashPassword } from './password.ts'
export { resource } from './resource.ts'
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
} from './resource.ts'
export type { Route } from './routes.ts'
export type { PublicKey } from './tokens.ts'
export type { Change } from './changes.ts'
export type { ExpectedChange, ExpectedChanges, RowCounts } from './expect.ts'
export type { JournalEntry } from './journal.ts'
export { Clock } from './clock.ts'
export type { ClockSetting } from './clock.ts'
export { Snapshot } from './snapshot.ts'
export type { Give, GivenOptions, GivenRecord, Overrides } from './given.ts'
export type { FailedRequest } from './failure.ts'
export type { EngineOptions } from './options.ts'
export type { SeedData } from './seed-rows.ts'
export type { Limits } from './limits.ts'
export type { QueryInput, QueryValue } from './parse-query.ts'
export type { RestResponse } from './response.ts'
export type { ScalarKind, ScalarType } from './scalars.ts'
export type { StoredTime } from './stored-time.ts'
