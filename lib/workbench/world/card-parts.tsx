/** Card parts: what several cards of the world are made of: a table that scrolls by itself, and a name to do something with. */
import type { ComponentChildren } from 'preact'
import { useId, useState } from 'preact/hooks'
import { Action } from './actions.tsx'

interface CardTableProps {
  /** The name of the region that scrolls. */
  readonly label: string
  /** The heads of the columns; `#` in front of one says that it holds numbers. */
  readonly heads: readonly string[]
  /** Rows. */
  readonly children: ComponentChildren
}

/** A table whose last column has buttons. */
export function CardTable({ label, heads, children }: CardTableProps) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={label}>
      <table>
        <thead>
          <tr>
            {heads.map(head => (
              <th key={head} scope="col" class={head.startsWith('#') ? 'num' : undefined}>
                {head.replace('#', '')}
              </th>
            ))}
            <th scope="col">actions</th>
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  )
}

interface NamedActionProps {
  /** The name where none is written. */
  readonly usual: string
  readonly needs: string
  readonly line: (name: string) => string
  /** @param written what the reader has written; may be empty */
  readonly onAct: (written: string) => Promise<void>
  readonly children: ComponentChildren
}

/** A field for a name, and the button that takes it. */
export function NamedAction({ usual, needs, line, onAct, children }: NamedActionProps) {
  const id = useId()
  const [name, setName] = useState('')
  return (
    <div class="bar">
      <label for={id}>Name</label>
      <input id={id} value={name} placeholder={usual} size={14} maxLength={100} onInput={event => setName(event.currentTarget.value)} />
      <Action
        needs={needs}
        isMain
        line={line(name === '' ? usual : name)}
        onAct={async () => {
          await onAct(name)
          setName('')
        }}
      >
        {children}
      </Action>
    </div>
  )
}
