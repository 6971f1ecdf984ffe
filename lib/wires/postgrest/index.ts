/** The entry `mikro-rest/wire/postgrest`. */
export { postgrest, type PostgrestOptions, type RpcFunction } from './postgrest.ts'
export { supabase, type SupabaseOptions } from './supabase.ts'
