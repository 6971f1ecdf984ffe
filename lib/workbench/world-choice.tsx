/** World choice: the first request creates a world with a new name. */
import { useId, useState } from 'preact/hooks'
import { dataChanged, worlds } from './state/live.ts'
import { setOfPage, world } from './state/place.ts'

const OTHER = '\n'

export function WorldChoice() {
  const id = useId()
  const [isNamed, setNamed] = useState(false)
  const own = world.value
  const names = [...new Set([...worlds.value, ...(own === '' ? [] : [own])])].toSorted()
  const choose = (name: string): void => {
    setNamed(name === OTHER)
    if (name === OTHER) return
    setOfPage('world', name)
    dataChanged()
  }
  return (
    <span class="choice">
      <label for={id}>World</label>
      {isNamed ? (
        <NameField id={id} onName={choose} onLeave={() => setNamed(false)} />
      ) : (
        <select id={id} value={own} onChange={event => choose(event.currentTarget.value)}>
          <option value="">main</option>
          {names.map(name => (
            <option key={name}>{name}</option>
          ))}
          <option value={OTHER}>New …</option>
        </select>
      )}
    </span>
  )
}

interface NameFieldProps {
  readonly id: string
  readonly onName: (name: string) => void
  readonly onLeave: () => void
}

function NameField({ id, onName, onLeave }: NameFieldProps) {
  return (
    <form
      onSubmit={event => {
        event.preventDefault()
        const { value } = event.currentTarget.querySelector('input')!
        if (value !== '') onName(value)
      }}
    >
      <input
        id={id}
        ref={field => field?.focus()}
        placeholder="name, then Enter"
        pattern="[\w.:\-]{1,100}"
        maxLength={100}
        size={14}
        onBlur={onLeave}
        onKeyDown={event => {
          if (event.key === 'Escape') onLeave()
        }}
      />
    </form>
  )
}
