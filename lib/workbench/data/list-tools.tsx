/** List tools: creates, generates and imports records. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { ErrorNotice } from '../parts/notice.tsx'
import { findResource, type OutlinedResource } from '../state/outline.ts'
import { idOf } from '../state/records.ts'
import { ImportDialog } from './import-dialog.tsx'
import { readDraft } from './input-text.ts'
import { makeUp } from './save.ts'

const MADE_UP = 10

interface ListToolsProps {
  readonly resource: OutlinedResource
  /** Values of filters. */
  readonly prefilled: Readonly<Record<string, string>>
  readonly onCreate: () => void
  /** Receives IDs of new records. */
  readonly onMade: (ids: readonly string[]) => void
  readonly children: ComponentChildren
}

export function ListTools({ resource, prefilled, onCreate, onMade, children }: ListToolsProps) {
  const [error, setError] = useState<Error>()
  const [isBusy, setBusy] = useState(false)
  const [isImporting, setImporting] = useState(false)
  const invent = async (): Promise<void> => {
    setBusy(true)
    try {
      const made = await makeUp(resource, MADE_UP, readOverrides(resource, prefilled))
      onMade(made.flatMap(record => idOf(record, resource) ?? []))
      setError(undefined)
    } catch (thrown) {
      setError(thrown as Error)
    }
    setBusy(false)
  }
  return (
    <>
      <div class="bar">
        {resource.creates ? (
          <>
            <button type="button" onClick={onCreate}>
              New {resource.singular}
            </button>
            <button type="button" disabled={isBusy} title="Valid records, with the parents that they need" onClick={() => void invent()}>
              Make up {MADE_UP}
            </button>
            <button type="button" onClick={() => setImporting(true)}>
              Import CSV …
            </button>
          </>
        ) : null}
        <span class="grow" />
        {children}
      </div>
      {error === undefined ? null : <ErrorNotice error={error} />}
      {isImporting ? (
        <ImportDialog
          resource={resource}
          onImported={ids => {
            setImporting(false)
            onMade(ids)
          }}
          onClose={() => setImporting(false)}
        />
      ) : null}
    </>
  )
}

function readOverrides(resource: OutlinedResource, prefilled: Readonly<Record<string, string>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(prefilled).flatMap(([name, text]) => {
      const attribute = resource.attributes.find(each => each.name === name)
      if (attribute === undefined) return []
      return [[name, readDraft(text, attribute, attribute.target === undefined ? undefined : findResource(attribute.target))]]
    }),
  )
}
