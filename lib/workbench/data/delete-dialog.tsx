/** Asks before a deletion, and lists effects on other records. */
import { useState } from 'preact/hooks'
import { ErrorNotice } from '../parts/notice.tsx'
import { useLoad } from '../parts/use-load.ts'
import { countLists, findResource, type OutlinedResource, pathOf } from '../state/outline.ts'
import { nameRecords, SeveralDialog, useSeveral } from './several.tsx'
import { hrefOfList, hrefOfResource, requestOf } from './links.ts'
import { deleteRecords } from './save.ts'
import { literal } from './search-records.ts'

interface DeleteDialogProps {
  readonly resource: OutlinedResource
  readonly ids: readonly string[]
  readonly onDone: () => void
  readonly onClose: () => void
}

export function DeleteDialog({ resource, ids: given, onDone, onClose }: DeleteDialogProps) {
  // The list forgets deleted records; refused ones still stand here.
  const [ids] = useState(given)
  const { data: effects, error } = useLoad(() => readEffects(resource, ids), [resource, ids])
  const { faults, isBusy, run } = useSeveral(onDone)
  const isRefused = ids.length === 1 && effects?.some(({ rule }) => rule === 'refuse') === true
  return (
    <SeveralDialog title={`Delete ${nameRecords(resource, ids)}?`} faults={faults} onClose={onClose}>
      {error === undefined ? null : <ErrorNotice error={error} />}
      {effects === undefined ? <p class="dim">…</p> : effects.length === 0 ? <p>No other record changes.</p> : null}
      <ul>
        {effects?.map(({ text, href }) => (
          <li key={text}>
            <a href={href}>{text}</a>
          </li>
        ))}
      </ul>
      <div class="bar">
        <button
          type="button"
          class="main danger"
          disabled={isBusy || isRefused || (effects === undefined && error === undefined)}
          onClick={() => void run(() => deleteRecords(resource, ids))}
        >
          Delete
        </button>
        <button type="button" onClick={onClose}>
          Keep
        </button>
      </div>
    </SeveralDialog>
  )
}

interface DeletionEffect {
  readonly rule: 'delete' | 'unlink' | 'refuse'
  readonly text: string
  readonly href: string
}

export async function readEffects(
  resource: OutlinedResource,
  ids: readonly string[],
  only?: DeletionEffect['rule'],
): Promise<DeletionEffect[]> {
  const [first = ''] = ids
  // No request counts lists of several records.
  const relations = (resource.whenDeleted ?? []).filter(
    ({ by, rule }) => (only === undefined || rule === only) && (by !== undefined || ids.length === 1),
  )
  const filterOf = (by: string): string => `${by}=${ids.map(literal).join(',')}`
  const counts = await countLists(
    relations.map(({ resource: other, by, attribute }) =>
      by === undefined ? requestOf([resource.name, first, attribute ?? ''], '') : `${pathOf(other)}?${filterOf(by)}`,
    ),
  )
  return relations.flatMap(({ resource: other, by, attribute, rule }, index) => {
    const count = counts[index]
    if (count === 0) return []
    const list = resource.attributes.find(({ name }) => name === attribute)
    const href =
      by !== undefined
        ? hrefOfResource(other, filterOf(by))
        : list === undefined
          ? hrefOfResource(other)
          : hrefOfList(resource, first, list)
    return [{ rule, href, text: describeEffect(other, by, rule, count, ids.length) }]
  })
}

function describeEffect(
  other: string,
  by: string | undefined,
  rule: DeletionEffect['rule'],
  count: number | null | undefined,
  of: number,
): string {
  const isOne = count === 1
  const records =
    count === null || count === undefined
      ? `records of ${other}`
      : `${count.toLocaleString('en')} ${isOne ? (findResource(other)?.singular ?? other) : other}`
  const via = by === undefined ? '' : ` (by ${by})`
  const them = of === 1 ? 'it' : 'them'
  if (rule === 'delete') return `${records} ${isOne ? 'is' : 'are'} deleted, too${via}, with everything below.`
  if (rule === 'unlink') return `${records} ${isOne ? 'stays' : 'stay'} without the link${via}.`
  return `${records} ${isOne ? 'needs' : 'need'} ${them}${via}.`
}
