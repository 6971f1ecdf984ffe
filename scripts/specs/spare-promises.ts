/**
 * Spares the promises of specs the hook of node's test runner, which follows each of them to say whose error nobody has awaited: every
 * promise is then registered, and collected by a weak reference of its own. That costs an eighth of the run. Such an error ends the process
 * of its file instead (`worker.ts`): files run one after another, so that it is known whose it is.
 *
 * A worker imports this before `node:test`, which makes its only hook with what stands here. A Node without `trackPromises` ignores it.
 */
import hooks, { type AsyncHook, type HookCallbacks } from 'node:async_hooks'

const { createHook } = hooks

hooks.createHook = (callbacks: HookCallbacks): AsyncHook => {
  hooks.createHook = createHook
  const withoutPromises: HookCallbacks & { readonly trackPromises: false } = { ...callbacks, trackPromises: false }
  return createHook(withoutPromises)
}
