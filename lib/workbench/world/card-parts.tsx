/** The parts of several cards, a table, and a field for a name with a button. */
import type { ComponentChildren } from 'preact'
import { useId, useState } from 'preact/hooks'
import { ScrollBox } from '../parts/scroll-box.tsx'
import { Action } from './actions.tsx'

interface CardTableProps {
  readonly label: string
  /** `#` marks a column of numbers. */
  readonly heads: readonly string[]
  readonly children: ComponentChildren
}

/** The last column has buttons. */
export function CardTable({ label, heads, children }: CardTableProps) {
  return (
    <ScrollBox label={label}>
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
    </ScrollBox>
  )
}

interface NamedActionProps {
  readonly usual: string
  readonly needs: string
  readonly line: (name: string) => string
  readonly onAct: (written: string) => Promise<void>
  readonly children: ComponentChildren
}

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
