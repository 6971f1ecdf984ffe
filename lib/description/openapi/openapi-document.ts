/** The type of an OpenAPI document as plain JSON. */

export interface OpenApiDocument {
  readonly openapi: string
  readonly info: Readonly<Record<string, unknown>>
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly components: Readonly<Record<string, unknown>>
  readonly [member: string]: unknown
}
