/**
 * Builtins: modules of Node that many processes with an engine never need. `node:http` and `node:crypto` take longer to load than all files
 * of this library, so each is loaded when a function first uses it.
 */

/** A function that loads a module when it is first called. */
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
