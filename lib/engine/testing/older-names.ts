/** Older names of the test kit, which go on working: each warns once a process. */

let hasWarned = false

/** Says that `engine.limit` is called `engine.rateLimit` now. */
export function warnOfLimit(): void {
  if (hasWarned) return
  hasWarned = true
  process.emitWarning('engine.limit is called engine.rateLimit now, since engine.limits is something else.', {
    type: 'DeprecationWarning',
    code: 'MIKRO_REST_LIMIT',
  })
}
