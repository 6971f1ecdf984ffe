/** Loads modules of Node on first use, since `node:http` and `node:crypto` load slower than the library. */

/** False in a browser: a bundler may define a `process` without `getBuiltinModule`. */
export const hasBuiltins = 'process' in globalThis && 'getBuiltinModule' in process

const lazy = <Module>(load: () => Module): (() => Module) => {
  let loaded: Module | undefined
  return () => (loaded ??= load())
}

const assert = lazy(() => process.getBuiltinModule('node:assert'))
const crypto = lazy(() => process.getBuiltinModule('node:crypto'))
const http = lazy(() => process.getBuiltinModule('node:http'))
const https = lazy(() => process.getBuiltinModule('node:https'))
const net = lazy(() => process.getBuiltinModule('node:net'))
const stream = lazy(() => process.getBuiltinModule('node:stream'))
const util = lazy(() => process.getBuiltinModule('node:util'))
const zlib = lazy(() => process.getBuiltinModule('node:zlib'))

export const builtin = {
  get assert() {
    return assert()
  },
  get crypto() {
    return crypto()
  },
  get http() {
    return http()
  },
  get https() {
    return https()
  },
  get net() {
    return net()
  },
  get stream() {
    return stream()
  },
  get util() {
    return util()
  },
  get zlib() {
    return zlib()
  },
}
