/** Lets the engine of a worker answer requests of pages: the other end of ask-port.ts. */
import { readMessage, sendMessage, type AskedRequest, type MessageEnd, type PortAnswer } from './port-messages.ts'

interface ServedEngine {
  readonly base: string
  readonly versions: readonly string[]
  fetch(request: Request): Promise<Response>
}

/**
 * Answers pages that call `connect` of `mikro-rest/port`. Requests wait for the engine.
 *
 * @param port given by each event `connect` of a shared worker. Default: the worker itself.
 * @example serveOn(RestEngine.create({ entities: [User] }))
 */
export function serveOn(engine: ServedEngine | Promise<ServedEngine>, port: MessageEnd = globalThis as unknown as MessageEnd): void {
  const started = Promise.resolve(engine)
  const greet = (): Promise<void> =>
    started.then(
      ({ base, versions }) => sendMessage(port, { base, versions }),
      (error: unknown) => sendMessage(port, { failure: String(error) }),
    )
  port.addEventListener('message', ({ data }) => {
    const message = readMessage(data)
    if (message === 'greeting') void greet()
    else if (message !== undefined && 'url' in message) void answer(started, message)
  })
  port.start?.()
  // Greets unasked, too: a greeting sent before this listener is lost.
  void greet()
}

async function answer(started: Promise<ServedEngine>, { url, method, headers, body, port }: AskedRequest): Promise<void> {
  const ending = new AbortController()
  const tell = (message: PortAnswer, transfer: object[] = []): void => port.postMessage(message, transfer)
  const fail = ({ name, message }: Error): void => tell({ error: { name, message } })
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  const give = async (): Promise<void> => {
    const { value } = await reader!.read()
    tell({ piece: value })
  }
  port.addEventListener('message', ({ data }) => {
    if (data === 'more') return void give().catch(fail)
    ending.abort()
    void reader?.cancel().catch(() => {})
  })
  port.start()
  try {
    const engine = await started
    const response = await engine.fetch(
      new Request(url, { method, headers: headers as [string, string][], body: body ?? null, signal: ending.signal }),
    )
    reader = response.body?.getReader()
    tell({ status: response.status, headers: [...response.headers], hasBody: reader !== undefined })
  } catch (error) {
    fail(error as Error)
  }
}
