/** Reads `MIKRO_REST_WORKBENCH`, the port of the list of engines, and `MIKRO_REST_WORKBENCH_WAIT`. */

/** Engines kept open at the end, until the reader of the list lets go. */
type Waiting = 'none' | 'all' | 'failed'

export interface Settings {
  readonly port: number
  readonly waiting: Waiting
}

const WAITING: Readonly<Record<string, Waiting>> = { '': 'none', '0': 'none', '1': 'all', failed: 'failed' }

export function readSettings(env: NodeJS.ProcessEnv): Settings {
  const { MIKRO_REST_WORKBENCH: text = '', MIKRO_REST_WORKBENCH_WAIT: wait = '' } = env
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (port < 1 || port > 65_535)
    throw new RangeError(`MIKRO_REST_WORKBENCH must be a port from 1 to 65535, such as 3999, got ${JSON.stringify(text.slice(0, 100))}.`)
  const waiting = Object.hasOwn(WAITING, wait) ? WAITING[wait] : undefined
  if (waiting === undefined)
    throw new RangeError(
      'MIKRO_REST_WORKBENCH_WAIT must be "1", so that each engine waits at its end, or "failed", so that those of failed tests do, ' +
        `got ${JSON.stringify(wait.slice(0, 100))}.`,
    )
  return { port, waiting }
}
