/** Gives a page the class Buffer, for MikroORM's copies of values. */

const page = globalThis as { ['Buffer']?: { from(bytes: ArrayBuffer): Uint8Array<ArrayBuffer> } }

export async function giveBuffer(): Promise<void> {
  page['Buffer'] ??= (await import('buffer/index.js')).default.Buffer as unknown as NonNullable<(typeof page)['Buffer']>
}

/** Values of entities are Buffers, as on Node. */
export function toBuffer(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return page['Buffer']?.from(bytes.buffer) ?? bytes
}
