/** Makes a FormBody of a form's bytes, or of a value that the app has parsed. Refuses unreadable forms and files with body_invalid. */
import { restError } from '../../foundation/errors/errors.ts'
import { FormBody } from '../../foundation/http/form-body.ts'
import { isObject } from '../../foundation/json/json.ts'

const TEXT = 'application/x-www-form-urlencoded'
const PARTS = 'multipart/form-data'

export function isForm(type: string): boolean {
  return type === TEXT || type === PARTS
}

/** @param header `Content-Type`, with the boundary of parts */
export function readForm(header: string, bytes: Uint8Array, decode: (bytes: Uint8Array) => string): FormBody {
  return header.trim().toLowerCase().startsWith(PARTS) ? readParts(header, bytes, decode) : readFields(decode(bytes))
}

export function takeForm(value: unknown): FormBody {
  const form = new FormBody()
  const add = (name: string, given: unknown): void => {
    if (Array.isArray(given)) given.forEach((item, index) => add(isObject(item) ? `${name}[${index}]` : `${name}[]`, item))
    else if (isObject(given)) for (const [key, inner] of Object.entries(given)) add(`${name}[${key}]`, inner)
    else form.add(name, String(given))
  }
  if (isObject(value)) for (const [name, given] of Object.entries(value)) add(name, given)
  return form
}

function readFields(text: string): FormBody {
  const form = new FormBody()
  for (const pair of text.split('&')) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    form.add(decodeField(equals < 0 ? pair : pair.slice(0, equals)), equals < 0 ? '' : decodeField(pair.slice(equals + 1)))
  }
  return form
}

function decodeField(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw restError('body_invalid', `The form contains a bad percent-encoding in ${JSON.stringify(text.slice(0, 100))}.`)
  }
}

/** RFC 7578, RFC 2046 section 5.1. */
function readParts(header: string, bytes: Uint8Array, decode: (bytes: Uint8Array) => string): FormBody {
  const match = /;\s*boundary\s*=\s*(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(header)
  const boundary = match?.[1] ?? match?.[2]
  if (boundary === undefined)
    throw restError('body_invalid', 'The form has no boundary: its Content-Type must say what separates its parts.')
  const form = new FormBody()
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const line = Buffer.from(`\r\n--${boundary}`)
  // The first boundary may have no line in front.
  let at = data.subarray(0, line.length - 2).equals(line.subarray(2)) ? line.length - 2 : findAfter(data, line, 0)
  while (!isEnd(data, at)) {
    const start = findAfter(data, Buffer.from('\r\n'), at)
    const end = data.indexOf(line, start - 2)
    if (end < 0) throw cut()
    const head = data.indexOf('\r\n\r\n', start - 2)
    if (head < 0 || head > end) throw cut()
    const content = data.subarray(head + 4, Math.max(head + 4, end))
    addPart(form, decode(data.subarray(start, Math.max(start, head))), content.length === 0, () => decode(content))
    at = end + line.length
  }
  return form
}

/** Two hyphens behind a boundary end the form. */
function isEnd(data: Buffer, at: number): boolean {
  return data[at] === 0x2d && data[at + 1] === 0x2d
}

function findAfter(data: Buffer, what: Buffer, from: number): number {
  const found = data.indexOf(what, from)
  if (found < 0) throw cut()
  return found + what.length
}

function cut() {
  return restError('body_invalid', 'The form ends before its last boundary, or a part has no head.')
}

function addPart(form: FormBody, head: string, isEmpty: boolean, text: () => string): void {
  const disposition = /^content-disposition\s*:(.*)$/im.exec(head)?.[1] ?? ''
  const name = readParameter(disposition, 'name')
  if (name === undefined)
    throw restError('body_invalid', 'A part of the form has no name: "Content-Disposition: form-data; name=..." is missing.')
  const file = readParameter(disposition, 'filename') ?? (/;\s*filename\*/i.test(disposition) ? '*' : undefined)
  const type = /^content-type\s*:\s*(\S*)/im.exec(head)?.[1] ?? 'text/plain'
  if (file === undefined && /^text\//i.test(type)) return form.add(name, text())
  // An input without a chosen file.
  if ((file ?? '') === '' && isEmpty) return
  throw restError(
    'body_invalid',
    `The form has a file under ${JSON.stringify(name.slice(0, 100))}; files are not taken: send its content in base64 as a text.`,
  )
}

/** Browsers write a quote inside as `%22`. */
function readParameter(disposition: string, name: string): string | undefined {
  const match = new RegExp(`;\\s*${name}\\s*=\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s;]+))`, 'i').exec(disposition)
  const value = match?.[1] ?? match?.[2]
  return value?.replaceAll('%22', '"').replaceAll('%0D', '\r').replaceAll('%0A', '\n').replaceAll(/\\(.)/g, '$1')
}
