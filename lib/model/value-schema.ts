/**
 * Value schema: how the application checks values beyond the model: by a Standard Schema (version 1, https://standardschema.dev), or by a
 * function.
 */
import type { HookContext } from './hook-context.ts'

/** What a Standard Schema says of a value that it refuses. */
export interface SchemaIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** A schema of zod, valibot, arktype and others: the part of Standard Schema that is used. */
export interface StandardSchema {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => SchemaResult | Promise<SchemaResult>
    /** Says the schema as a JSON Schema, where the library can (Standard JSON Schema, version 1). */
    readonly jsonSchema?: { readonly input: (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown> } | undefined
  }
}

type SchemaResult = { readonly value: unknown; readonly issues?: undefined } | { readonly issues: readonly SchemaIssue[] }

/** See `AttributeRules.schema`. */
export type ValueSchema = StandardSchema | ((value: unknown, ctx: HookContext) => unknown)
