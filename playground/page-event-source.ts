/** Page event source: the `EventSource` of a page whose `fetch` has an engine. A stream that has ended stays closed. */

export class PageEventSource extends EventTarget {
  static readonly CLOSED = 2
  readyState = 0
  readonly #end = new AbortController()

  constructor(url: string) {
    super()
    void this.#follow(url)
  }

  close(): void {
    this.readyState = PageEventSource.CLOSED
    this.#end.abort()
  }

  async #follow(url: string): Promise<void> {
    const { signal } = this.#end
    try {
      const { ok, body } = await fetch(url, { signal })
      if (!ok || body === null) throw new Error(`${url} gives no events.`)
      this.readyState = 1
      this.dispatchEvent(new Event('open'))
      const reader = body.pipeThrough(new TextDecoderStream()).getReader()
      let text = ''
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        const blocks = (text + part.value).split('\n\n')
        text = blocks.pop()!
        for (const block of blocks) this.#tell(block)
      }
    } catch (error) {
      if (!signal.aborted) console.warn(error)
    }
    if (signal.aborted) return
    this.close()
    this.dispatchEvent(new Event('error'))
  }

  #tell(block: string): void {
    const fields = new Map(block.split('\n').map(line => line.split(/: (.*)/s, 2) as [string, string]))
    const data = fields.get('data')
    if (data !== undefined && !this.#end.signal.aborted) this.dispatchEvent(new MessageEvent(fields.get('event') ?? 'message', { data }))
  }
}
