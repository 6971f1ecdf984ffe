/** The messages between a page and an engine in a worker. Each request has a port. */

/** A worker, the inside of a worker, or a port. */
export interface MessageEnd {
  postMessage(message: unknown, transfer: object[]): void
  addEventListener(name: 'message', listener: (event: { readonly data: unknown }) => void): void
  addEventListener(name: 'error', listener: (event: object) => void): void
  /** Only a port has `start`. */
  start?(): void
}

export interface RequestPort extends MessageEnd {
  start(): void
  close(): void
}

/** The application's messages have no such member. */
export interface EngineMessage {
  readonly mikroRest: 'greeting' | EngineAddress | StartFailure | AskedRequest
}

export interface EngineAddress {
  readonly base: string
  readonly versions: readonly string[]
}

interface StartFailure {
  readonly failure: string
}

export interface AskedRequest {
  readonly url: string
  readonly method: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body: ArrayBuffer | undefined
  /** Carries `PortAnswer`s, and from the page `more` or `end`. */
  readonly port: RequestPort
}

export type PortAnswer =
  | { readonly status: number; readonly headers: readonly (readonly [string, string])[]; readonly hasBody: boolean }
  /** `undefined` after the last piece. */
  | { readonly piece: Uint8Array | undefined }
  | { readonly error: { readonly name: string; readonly message: string } }

/** Undefined for a message of the application. */
export function readMessage(data: unknown): EngineMessage['mikroRest'] | undefined {
  return (data as Partial<EngineMessage> | null)?.mikroRest
}

export function sendMessage(end: MessageEnd, mikroRest: EngineMessage['mikroRest'], transfer: object[] = []): void {
  end.postMessage({ mikroRest } satisfies EngineMessage, transfer)
}
