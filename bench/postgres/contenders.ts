/** Opens the contenders of the bench on a database, and compares their answers. */
import type { EngineOptions } from '../../lib/index.ts'
import { assertSame, comparable } from '../contenders.ts'
import { entities } from '../seed.ts'
import type { Size } from '../seed.ts'
import { withDatabase } from './database.ts'
import type { Api, PostgresTrial } from './trials.ts'

export const CONTENDERS = ['by hand', 'engine', 'by hand, pipelined', 'JSON by SQL', 'MikroORM'] as const
export type ContenderName = (typeof CONTENDERS)[number]

export interface Contender {
  readonly name: ContenderName
  /** Whether it answers a trial. */
  answers(trial: PostgresTrial): boolean
  /** The answer to a call, as JSON text. */
  answer(trial: PostgresTrial, call: number): Promise<string>
  close(): Promise<void>
}

/** Opens a contender, without loading the others. */
export async function open(name: ContenderName, url: string): Promise<Contender> {
  switch (name) {
    case 'engine':
      return openEngine(url)
    case 'JSON by SQL': {
      const { ServerJson } = await import('./server-json.ts')
      return wrapApi(name, new ServerJson(url))
    }
    case 'MikroORM': {
      const { ByMikroOrm } = await import('./mikro-orm.ts')
      return wrapApi(name, new ByMikroOrm(url))
    }
    default: {
      const { ByHand } = await import('./by-hand.ts')
      return wrapApi(name, new ByHand(url, name !== 'by hand'))
    }
  }
}

function wrapApi(name: ContenderName, api: Partial<Api> & { close(): Promise<void> }): Contender {
  return {
    name,
    answers: ({ asks }) => asks in api,
    answer: (trial, call) => trial.byHand(api as Api, call),
    close: () => api.close(),
  }
}

/** @param options what is not as usual; by default it keeps no journal */
export async function openEngine(url: string, options: Pick<EngineOptions, 'journal'> = { journal: 0 }): Promise<Contender> {
  const { RestEngine } = await import('../../lib/index.ts')
  const engine = await RestEngine.create({ entities, database: { url, poolSize: 10 }, schema: 'keep', ...options })
  return {
    name: 'engine',
    answers: () => true,
    answer(trial, call) {
      const { method, path, query, body } = trial.request(call)
      return engine.handle(method, path, query, body).then(response => JSON.stringify(response.body))
    },
    close: () => engine.close(),
  }
}

/**
 * Compares what contenders answer to the first calls of a trial with what the first one does: the engine byte by byte, JSON that others
 * have made by its content.
 *
 * @throws Error where they differ.
 */
export async function compare(trial: PostgresTrial, contenders: readonly Contender[], calls: number): Promise<void> {
  const [first, ...others] = contenders.filter(contender => contender.answers(trial)) as [Contender, ...Contender[]]
  for (let call = 0; call < calls; call++) {
    const wanted = await first.answer(trial, call)
    for (const other of others) {
      const given = await other.answer(trial, call)
      const isExact = other.name === 'engine' || other.name === 'by hand, pipelined'
      const [one, two] = isExact ? [wanted, given] : [normalize(wanted), normalize(given)]
      assertSame(`${trial.name} by ${other.name}`, call, one, two)
    }
  }
}

function normalize(answer: string): string {
  return JSON.stringify(JSON.parse(comparable(answer)))
}

/** Opens all contenders, each on a database of its own: writes give the same keys then. */
export async function withApart<T>(size: Size, work: (contenders: readonly Contender[]) => Promise<T>): Promise<T> {
  const opened: Contender[] = []
  const openRest = async ([name, ...rest]: readonly ContenderName[]): Promise<T> => {
    if (name === undefined) return work(opened)
    return withDatabase(size, async url => {
      const contender = await open(name, url)
      opened.push(contender)
      try {
        return await openRest(rest)
      } finally {
        await contender.close()
      }
    })
  }
  return openRest(CONTENDERS)
}
