/**
 * Dispose keys: the keys of `using`, in Safari those that esbuild and Babel look for. `Symbol` gets the keys, too: otherwise Kysely adds
 * another `Symbol.asyncDispose` later.
 */
const keys = Symbol as { dispose?: symbol; asyncDispose?: symbol }
keys.dispose ??= Symbol.for('Symbol.dispose')
keys.asyncDispose ??= Symbol.for('Symbol.asyncDispose')

export const disposeKey: typeof Symbol.dispose = Symbol.dispose
export const asyncDisposeKey: typeof Symbol.asyncDispose = Symbol.asyncDispose
