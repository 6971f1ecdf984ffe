/** Writes JSON values as JavaScript, with single quotes, bare names, short objects in a single line. */

const WIDTH = 72

export function quote(text: string): string {
  const escaped = JSON.stringify(text)
    .slice(1, -1)
    .replaceAll(String.raw`\"`, '"')
    .replaceAll("'", String.raw`\'`)
  return `'${escaped}'`
}

export function inlineCode(value: unknown): string {
  if (typeof value === 'string') return quote(value)
  if (Array.isArray(value)) return `[${value.map(inlineCode).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'undefined'
  const members = Object.entries(value).map(([name, item]) => `${nameCode(name)}: ${inlineCode(item)}`)
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}

/** @param indent of the first line, in spaces */
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
  // `__proto__` would set the prototype.
  if (name === '__proto__') return "['__proto__']"
  return /^[a-zA-Z_$][\w$]*$/.test(name) ? name : quote(name)
}
