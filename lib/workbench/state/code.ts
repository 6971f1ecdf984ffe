/** Code: JSON values as JavaScript, in the form that a formatter would leave: single quotes, bare names, short objects in one line. */

/** Characters of an object that stands in one line. */
const WIDTH = 72

export function quote(text: string): string {
  const escaped = JSON.stringify(text)
    .slice(1, -1)
    .replaceAll(String.raw`\"`, '"')
    .replaceAll("'", String.raw`\'`)
  return `'${escaped}'`
}

/** A value in one line. */
export function inlineCode(value: unknown): string {
  if (typeof value === 'string') return quote(value)
  if (Array.isArray(value)) return `[${value.map(inlineCode).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'undefined'
  const members = Object.entries(value).map(([name, item]) => `${nameCode(name)}: ${inlineCode(item)}`)
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}

/** A value over several lines where it is long; `indent` is that of the line in which it begins. */
export function code(value: unknown, indent = 0): string {
  const line = inlineCode(value)
  if (line.length <= WIDTH || typeof value !== 'object' || value === null) return line
  const inner = ' '.repeat(indent + 2)
  const items = Array.isArray(value)
    ? value.map(item => code(item, indent + 2))
    : Object.entries(value).map(([name, item]) => `${nameCode(name)}: ${code(item, indent + 2)}`)
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  return `${open}\n${items.map(item => `${inner}${item},\n`).join('')}${' '.repeat(indent)}${close}`
}

function nameCode(name: string): string {
  // An object that is written has no prototype by this name.
  if (name === '__proto__') return "['__proto__']"
  return /^[a-zA-Z_$][\w$]*$/.test(name) ? name : quote(name)
}
