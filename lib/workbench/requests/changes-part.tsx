/** Shows the rows before and after a request. */
import { hrefOf } from '../state/place.ts'
import type { Change } from '../../engine/journal/changes.ts'
import { findResource } from '../state/outline.ts'
import { textOf } from '../state/records.ts'

const WORDS = { insert: 'created', update: 'changed', delete: 'deleted' } as const
const SHOWN = 100

export function ChangesPart({ changes }: { readonly changes: readonly Change[] | undefined }) {
  if (changes === undefined)
    return (
      <p class="dim">The changed rows are unknown: the journal keeps them no longer, or the database does not report them (PostgreSQL).</p>
    )
  if (changes.length === 0) return <p class="dim">This request has changed no row.</p>
  return (
    <>
      {changes.slice(0, SHOWN).map(change => (
        <OneChange key={`${change.resource} ${change.id}`} change={change} />
      ))}
      {changes.length > SHOWN ? <p class="dim">and {changes.length - SHOWN} more</p> : null}
    </>
  )
}

function OneChange({ change: { type, resource, id, before, after } }: { readonly change: Change }) {
  const names = Object.keys({ ...(before as object | null), ...(after as object | null) }).filter(
    name => type !== 'update' || JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  )
  const title = `${resource} ${id}`
  const isGone = type === 'delete' || findResource(resource) === undefined
  return (
    <table class="change">
      <caption>
        {isGone ? title : <a href={hrefOf('data', [resource, String(id)])}>{title}</a>} <span class={`kind ${type}`}>{WORDS[type]}</span>
      </caption>
      <tbody>
        {names.map(name => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td class="wrap">
              {before === null ? null : <del>{show(before[name])}</del>}
              {before === null || after === null ? null : ' → '}
              {after === null ? null : <ins>{show(after[name])}</ins>}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function show(value: unknown): string {
  return value === undefined ? 'nothing' : value === '' ? '""' : textOf(value)
}
