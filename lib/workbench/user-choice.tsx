/** User choice: chooses who sends requests. The URL has the ID, not the token. */
import { useId } from 'preact/hooks'
import { useLoad } from './parts/use-load.ts'
import { look, mint } from './state/ask.ts'
import { dataChanged } from './state/live.ts'
import { findResource, outline, parameterOf, pathOf } from './state/outline.ts'
import { setOfPage, userId } from './state/place.ts'
import { idOf, labelOf, type AnyRecord } from './state/records.ts'

export function UserChoice() {
  const id = useId()
  const chosen = userId.value
  const { data: users = [] } = useLoad(readUsers, [outline.value, chosen])
  const { error } = useLoad(() => (chosen === '' ? Promise.resolve('') : mint(chosen)), [chosen])
  const choose = (value: string): void => {
    setOfPage('as', value.trim())
    dataChanged()
  }
  return (
    <span class="choice">
      <label for={id}>As user</label>
      <input
        id={id}
        list={`${id}-users`}
        size={12}
        placeholder="nobody"
        key={chosen}
        defaultValue={chosen}
        aria-invalid={error !== undefined}
        title={error?.message ?? 'The ID of a user; empty is nobody'}
        onChange={event => choose(event.currentTarget.value)}
      />
      <datalist id={`${id}-users`}>
        {users.map(user => (
          <option key={user.id} value={user.id} label={user.label} />
        ))}
      </datalist>
    </span>
  )
}

/** Empty if the caller may not read users. */
async function readUsers(): Promise<{ readonly id: string; readonly label: string }[]> {
  const users = findResource(outline.value?.users ?? '')
  if (users === undefined) return []
  const body = await look(`${pathOf(users.name)}?${parameterOf('limit')}=50&${parameterOf('depth')}=0`).then(
    answer => answer.body as Readonly<Record<string, readonly AnyRecord[]>>,
    () => ({}) as Readonly<Record<string, readonly AnyRecord[]>>,
  )
  return (body[users.name] ?? []).flatMap(record => {
    const id = idOf(record, users)
    return id === undefined ? [] : [{ id, label: labelOf(record, users) || String(record['email'] ?? id) }]
  })
}
