/** The page of `policy.spec.ts`. */
import { RestEngine, loadSqlite } from '../../lib/browser.ts'
import { askLibrary, askUnitOfWork, type CompiledFunctions } from './library.ts'

/** Work that Chromium's evaluation begins is past the policy. */
async function runAsPage<T>(work: () => T | Promise<T>): Promise<T> {
  await new Promise(resolve => setTimeout(resolve))
  return work()
}

const inPage = {
  start: () => runAsPage(() => loadSqlite('/sqlite3.wasm')),
  ask: () => runAsPage(() => askLibrary({ RestEngine })),
  askUnitOfWork: () => runAsPage(() => askUnitOfWork({ RestEngine })),
  /** @param path of the compiled functions of MikroORM */
  askCompiled: (path: string) =>
    runAsPage(async () => {
      const { default: functions } = (await import(path)) as { readonly default: CompiledFunctions }
      return askUnitOfWork({ RestEngine }, functions)
    }),
  /** What a text that becomes code gives. */
  generate: () =>
    runAsPage(() => {
      try {
        // eslint-disable-next-line typescript/no-implied-eval -- refused, which the spec expects
        return String(new Function('return "allowed"')())
      } catch (error) {
        return (error as Error).name
      }
    }),
}

export type PolicyInPage = typeof inPage

Object.assign(globalThis, { inPage, ready: true })
