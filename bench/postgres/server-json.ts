/**
 * Readings of the trials by statements as PostgREST writes them: one for a request, in which the server counts, joins the relations by
 * `lateral`, and makes the JSON text of all records, which is passed on as it is.
 */
import { Pool } from 'pg'
import { envelope } from '../by-hand.ts'

const USER = `u.id, u.name, u.email, u.active, u.score, to_char(u.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as created_at`
const SITES = [
  '',
  `left join lateral (select coalesce(json_agg(s.id order by s.id), '[]') as sites from site s where s.user_id = u.id) as e on true`,
  `left join lateral (select coalesce(json_agg(row_to_json(r) order by r.id), '[]') as sites
    from (select s.id, s.url, s.user_id as "user" from site s where s.user_id = u.id) as r) as e on true`,
] as const
const LIMIT = 100

export class ServerJson {
  readonly #pool: Pool
  readonly #names = new Map<string, string>()

  constructor(url: string) {
    this.#pool = new Pool({ connectionString: url, max: 10 })
  }

  /** See `ByHand`, also of the others. */
  async listUsers(depth: 0 | 1 | 2, offset: number): Promise<string> {
    const link = (start: number): string => `/v1/users?depth=${depth}&offset=${start}`
    return this.#page(
      'true',
      [],
      'u.id',
      depth,
      (users, count) => pass(envelope('users', 'id.asc', offset, [], count, link, []), users),
      offset,
    )
  }

  async listActiveUsers(offset: number): Promise<string> {
    const link = (start: number): string => `/v1/users?active=true&sort=score&depth=0&offset=${start}`
    const answer = (users: string, count: number): string =>
      pass(envelope('users', 'score.asc', offset, [['active', 'true']], count, link, []), users)
    return this.#page('u.active = $1', [true], 'u.score, u.id', 0, answer, offset)
  }

  async getUser(id: number, depth: 0 | 1): Promise<string> {
    const columns = depth === 0 ? USER : `${USER}, e.sites`
    const text = `select row_to_json(r)::text as body from (select ${columns} from "user" u ${SITES[depth]} where u.id = $1) as r`
    const [row] = await this.#ask<{ body: string }>(text, [id])
    return `{"success":true,"timestamp":"${new Date().toISOString()}","resource":"user","user":${row!.body}}`
  }

  async close(): Promise<void> {
    await this.#pool.end()
  }

  async #page(
    where: string,
    values: readonly unknown[],
    order: string,
    depth: 0 | 1 | 2,
    answer: (users: string, count: number) => string,
    offset: number,
  ): Promise<string> {
    const columns = depth === 0 ? USER : `${USER}, e.sites`
    // The page first: a join beside `offset` is made for the rows before it, too.
    const page = `select * from "user" u where ${where} order by ${order} limit $${values.length + 1} offset $${values.length + 2}`
    const text = `select coalesce(json_agg(row_to_json(r)), '[]')::text as body, (select count(*)::int from "user" u where ${where}) as count
      from (select ${columns} from (${page}) as u ${SITES[depth]} order by ${order}) as r`
    const [row] = await this.#ask<{ body: string; count: number }>(text, [...values, LIMIT, offset])
    return answer(row!.body, row!.count)
  }

  async #ask<Row>(text: string, values: readonly unknown[]): Promise<Row[]> {
    let name = this.#names.get(text)
    if (name === undefined) this.#names.set(text, (name = `json_${this.#names.size}`))
    return (await this.#pool.query({ name, text, values: [...values] })).rows as Row[]
  }
}

/** The text of the records in the place of the empty list of an answer. */
function pass(answer: string, records: string): string {
  return `${answer.slice(0, -3)}${records}}`
}
