/** What specs take of the class Buffer, in a page: the package `buffer` does not know the form `base64url`. */
import buffer from 'buffer/index.js'

interface BufferLike {
  toString(form?: string): string
}
interface BufferClass {
  from(value: unknown, form?: string): BufferLike
  readonly prototype: BufferLike
}

export function giveWholeBuffer(): void {
  const given = buffer.Buffer as unknown as BufferClass
  Object.assign(globalThis, { Buffer: given })
  const { from } = given
  const write = given.prototype.toString
  given.from = (value, form) =>
    form === 'base64url' ? from(String(value).replaceAll('-', '+').replaceAll('_', '/'), 'base64') : from(value, form)
  given.prototype.toString = function (form) {
    if (form !== 'base64url') return write.call(this, form)
    return write.call(this, 'base64').replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
  }
}
