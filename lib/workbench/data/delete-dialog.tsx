/** Delete dialog: asks before deleting a record, and lists the effects on other records. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { ErrorNotice } from '../parts/notice.tsx'
import { useLoad } from '../parts/use-load.ts'
import { countLists, pathOf, type OutlinedResource } from '../state/outline.ts'
import { requestOf } from './links.ts'
import { deleteRecord } from './save.ts'
import { literal } from './search-records.ts'

interface DeleteDialogProps {
  readonly resource: OutlinedResource
  readonly id: string
  readonly onDeleted: () => void
  readonly onClose: () => void
}

export function DeleteDialog({ resource, id, onDeleted, onClose }: DeleteDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const [error, setError] = useState<Error>()
  const { data: effects } = useLoad(() => readEffects(resource, id), [resource, id])
  useLayoutEffect(() => dialog.current?.showModal(), [])
  const remove = async (): Promise<void> => {
    try {
      await deleteRecord(resource, id)
      onDeleted()
    } catch (thrown) {
      setError(thrown as Error)
    }
  }
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby="delete-title" onClose={onClose}>
      <h2 id="delete-title">
        Delete {resource.singular} {id}?
      </h2>
      {effects === undefined ? <p class="dim">…</p> : effects.length === 0 ? <p>Nothing else goes with it.</p> : null}
      <ul>
        {effects?.map(effect => (
          <li key={effect}>{effect}</li>
        ))}
      </ul>
      {error === undefined ? null : <ErrorNotice error={error} />}
      <div class="bar">
        <button type="button" class="main danger" disabled={effects === undefined} onClick={() => void remove()}>
          Delete
        </button>
        <button type="button" onClick={() => dialog.current?.close()}>
          Keep it
        </button>
      </div>
    </dialog>
  )
}

/** Omits resources without affected records. */
async function readEffects(resource: OutlinedResource, id: string): Promise<string[]> {
  const { whenDeleted = [] } = resource
  const paths = whenDeleted.map(({ resource: other, by, attribute }) =>
    by === undefined ? requestOf([resource.name, id, attribute ?? ''], '') : `${pathOf(other)}?${by}=${literal(id)}`,
  )
  const counts = await countLists(paths)
  return whenDeleted.flatMap(({ resource: other, by, rule }, index) => {
    const count = counts[index]
    if (count === 0) return []
    const records = count === null || count === undefined ? `records of ${other}` : `${count.toLocaleString('en')} of ${other}`
    const via = by === undefined ? '' : ` (${by})`
    if (rule === 'delete') return [`${records} are deleted with it${via}, with all that depends on them.`]
    return [
      rule === 'unlink'
        ? `${records} stay without their link to it${via}.`
        : `${records} need it${via}: the API refuses while there are any.`,
    ]
  })
}
