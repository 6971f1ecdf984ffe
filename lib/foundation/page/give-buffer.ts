/** Gives a page the class Buffer, for MikroORM's copies of values. */
import { SmallBuffer } from './small-buffer.ts'

interface BufferClass {
  from(bytes: ArrayBuffer): Uint8Array<ArrayBuffer>
}

const page = globalThis as { ['Buffer']?: BufferClass }

export function giveSmallBuffer(): void {
  page['Buffer'] ??= SmallBuffer
}

/** For models with bytes: hooks may call any member. Keeps a class of the page. */
export async function giveBuffer(): Promise<void> {
  if (page['Buffer'] !== SmallBuffer) return
  page['Buffer'] = (await import('buffer/index.js')).default.Buffer
}

/** Values of entities are Buffers, as on Node. */
export function toBuffer(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return page['Buffer']?.from(bytes.buffer) ?? bytes
}
