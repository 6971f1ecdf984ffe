/** Reads data for a component, again when dependencies change. Ignores answers to older reads. */
import { useEffect, useState } from 'preact/hooks'

interface Loaded<T> {
  readonly data: T | undefined
  readonly error: Error | undefined
  readonly isLoading: boolean
}

const NOTHING = { data: undefined, error: undefined, isLoading: true }

export function useLoad<T>(read: (signal: AbortSignal) => Promise<T>, depends: readonly unknown[]): Loaded<T> {
  const [loaded, setLoaded] = useState<Loaded<T>>(NOTHING)
  useEffect(() => {
    const end = new AbortController()
    setLoaded(before => ({ ...before, isLoading: true }))
    const load = async (): Promise<void> => {
      try {
        const data = await read(end.signal)
        if (!end.signal.aborted) setLoaded({ data, error: undefined, isLoading: false })
      } catch (error) {
        if (!end.signal.aborted) setLoaded(({ data }) => ({ data, error: error as Error, isLoading: false }))
      }
    }
    void load()
    return () => end.abort()
  }, depends)
  return loaded
}
