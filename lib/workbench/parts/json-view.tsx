/** Shows JSON as a tree, with long parts folded. */
import type { ComponentChildren } from 'preact'

const FOLDED = 12
const SHOWN = 200

export function JsonView({ value }: { readonly value: unknown }) {
  return (
    <div class="json">
      <Node value={value} isOpen />
    </div>
  )
}

interface NodeProps {
  readonly name?: string | undefined
  readonly value: unknown
  readonly isOpen?: boolean
}

function Node({ name, value, isOpen = false }: NodeProps) {
  const label = name === undefined ? null : <span class="key">{name}: </span>
  if (typeof value !== 'object' || value === null)
    return (
      <Line>
        {label}
        <Plain value={value} />
      </Line>
    )
  const isList = Array.isArray(value)
  const members = Object.entries(value)
  if (members.length === 0)
    return (
      <Line>
        {label}
        {isList ? '[]' : '{}'}
      </Line>
    )
  return (
    <details open={isOpen || members.length <= FOLDED}>
      <summary>
        {label}
        <span class="dim">{isList ? `[${members.length}]` : `{${members.length}}`}</span>
      </summary>
      {members.slice(0, SHOWN).map(([key, item]) => (
        <Node key={key} name={key} value={item} />
      ))}
      {members.length > SHOWN ? <Line>and {members.length - SHOWN} more</Line> : null}
    </details>
  )
}

function Line({ children }: { readonly children: ComponentChildren }) {
  return <div class="line">{children}</div>
}

function Plain({ value }: { readonly value: unknown }) {
  const kind = value === null || value === undefined ? 'null' : typeof value
  return <span class={`value-${kind}`}>{JSON.stringify(value) ?? 'undefined'}</span>
}
