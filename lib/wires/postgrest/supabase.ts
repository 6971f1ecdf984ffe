/** The wire of Supabase, with PostgREST below `/rest/v1`, and log-in below `/auth/v1`. */
import type { Wire, WireAnswer } from '../../foundation/base/wire.ts'
import { answerAuth, refuseAuth } from './gotrue.ts'
import { answerRest, checkRpc, isOfTable, refuseRest, type PostgrestOptions } from './postgrest.ts'

/** Options of `supabase`. */
export interface SupabaseOptions extends PostgrestOptions {
  /** The resource of users. Default: the one of `auth`. */
  readonly users?: string
}

/**
 * Answers as a Supabase project does, with tables below `/rest/v1`, and log-in by the engine's `auth` below `/auth/v1`. Takes any `apikey`,
 * for no user.
 *
 * @example
 * const engine = await RestEngine.create({ entities, auth: auth({ entity: User, public: ['* /*'] }), wire: supabase() })
 * using _ = engine.intercept('https://demo.supabase.co')
 * const { data } = await createClient('https://demo.supabase.co', 'any-key').from('posts').select()
 */
export function supabase(options: SupabaseOptions = {}): Wire {
  const rpc = checkRpc(options, ['rpc', 'users'], 'supabase')
  const { users } = options
  if (users !== undefined && typeof users !== 'string')
    throw new TypeError(`supabase: "users" must be the name of a resource, got ${typeof users}.`)
  return {
    answer: (request, api) => {
      const [service = '', version, ...segments] = request.segments
      const below = { ...request, segments }
      if (service === 'rest' && version === 'v1') return answerRest(rpc, below, api)
      if (service === 'auth' && version === 'v1') return answerAuth(users, below, api)
      return notServed(service)
    },
    repeatable: ({ segments: [service, , ...segments], ...request }) => service === 'rest' && isOfTable({ ...request, segments }),
    refuse: (error, request) =>
      request.segments[0] === 'auth' || request.path.startsWith('/auth/') ? refuseAuth(error) : refuseRest(error, request),
  }
}

/** Storage, realtime, edge functions. */
function notServed(service: string): WireAnswer {
  const message = `"/${service}" is not served here, only "/rest/v1" and "/auth/v1".`
  return { status: 404, body: { statusCode: '404', error: 'not_found', code: 'not_found', details: null, hint: null, message } }
}
