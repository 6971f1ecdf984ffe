/** What specs take of `node:timers/promises`, in a page. */

function wait<T>(milliseconds = 0, value?: T, { signal }: { readonly signal?: AbortSignal } = {}): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const timer = globalThis.setTimeout(() => resolve(value), milliseconds)
    signal?.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason as Error)
    })
  })
}

export { wait as setTimeout }

export function setImmediate<T>(value?: T): Promise<T | undefined> {
  return wait(0, value)
}
