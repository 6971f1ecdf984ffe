/** The types of the attribute rule `schema`, a Standard Schema (version 1, https://standardschema.dev) or a function. */
import type { HookContext } from './hook-context.ts'

/** Why a schema refuses. */
export interface SchemaIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** Of zod, valibot, arktype. */
export interface StandardSchema {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => SchemaResult | Promise<SchemaResult>
    /** Gives JSON Schema, where the library can (Standard JSON Schema, version 1). */
    readonly jsonSchema?: { readonly input: (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown> } | undefined
  }
}

type SchemaResult = { readonly value: unknown; readonly issues?: undefined } | { readonly issues: readonly SchemaIssue[] }

/** See `AttributeRules.schema`. */
export type ValueSchema = StandardSchema | ((value: unknown, ctx: HookContext) => unknown)
