/** Look around in the process before and after a spec file: the files after it find what it leaves. */
import assert from 'node:assert/strict'

/** Functions of the process that specs replace. */
const FUNCTIONS = ['fetch', 'Request', 'Response', 'Headers', 'WebSocket', 'Date', 'setTimeout', 'setInterval', 'setImmediate']
/** What an imitated browser brings. */
const BROWSER = ['document', 'window', 'location', 'customElements']
/** Listeners that Node and the runner add when they like, and those that clear up at the end. */
const FREE: readonly (string | symbol)[] = ['exit', 'beforeExit', 'message', 'internalMessage', 'newListener', 'removeListener', 'uncaughtException', 'unhandledRejection'] // prettier-ignore

/** Looks now, and returns a function that throws where something is different by then. */
export function lookAround(): () => void {
  const before = look()
  return () => {
    const after = look()
    const changed = [...new Set([...before.keys(), ...after.keys()])].filter(name => before.get(name) !== after.get(name))
    assert.deepEqual(changed, [], 'The files after this one run in the same process: put back what was changed.')
  }
}

function look(): ReadonlyMap<string, unknown> {
  const seen = new Map<string, unknown>([['process.cwd()', process.cwd()]])
  for (const [name, value] of Object.entries(process.env)) if (name !== 'MIKRO_ORM_COLORS') seen.set(`process.env.${name}`, value)
  for (const name of FUNCTIONS) seen.set(name, Reflect.get(globalThis, name))
  for (const name of BROWSER) seen.set(name, Object.hasOwn(globalThis, name))
  for (const name of ['log', 'warn', 'error'] as const) seen.set(`console.${name}`, console[name])
  for (const event of process.eventNames())
    if (!FREE.includes(event)) seen.set(`listeners of ${String(event)} on process`, process.listenerCount(event))
  return seen
}
