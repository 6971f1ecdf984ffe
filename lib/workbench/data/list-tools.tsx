/** The tools above a list, for new, imported and made-up records. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { ErrorNotice } from '../parts/notice.tsx'
import { findResource, outline, type OutlinedResource } from '../state/outline.ts'
import { idOf } from '../state/records.ts'
import { ImportDialog } from './import-dialog.tsx'
import { readDraft } from './input-text.ts'
import { makeUp } from './save.ts'

const MADE_UP = 10

interface ListToolsProps {
  readonly resource: OutlinedResource
  readonly prefilled: Readonly<Record<string, string>>
  readonly isImporting: boolean
  readonly setImporting: (isImporting: boolean) => void
  readonly chosen: ComponentChildren
  readonly onCreate: () => void
  readonly onMade: (ids: readonly string[]) => void
  readonly children: ComponentChildren
}

export function ListTools({ resource, prefilled, isImporting, setImporting, chosen, onCreate, onMade, children }: ListToolsProps) {
  const [error, setError] = useState<Error>()
  const [isBusy, setBusy] = useState(false)
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
        {chosen}
        {resource.creates && chosen === undefined ? (
          <>
            <button type="button" onClick={onCreate}>
              New {resource.singular}
            </button>
            {hasValues(resource) ? <MakeUp isBusy={isBusy} onMake={() => void invent()} /> : null}
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

/** Without a learned name, a record would be empty. */
function hasValues({ attributes, writeOnly = [], key, open }: OutlinedResource): boolean {
  return open !== true || [...attributes, ...writeOnly].some(({ name, readOnly }) => !readOnly && !key.includes(name))
}

interface MakeUpProps {
  readonly isBusy: boolean
  readonly onMake: () => void
}

/** Asks first: not every file wants made-up records. */
function MakeUp({ isBusy, onMake }: MakeUpProps) {
  const [isAsked, setAsked] = useState(false)
  const { inMemory, title } = outline.value!
  return (
    <button
      type="button"
      class={isAsked ? 'main' : undefined}
      disabled={isBusy}
      title="Valid records, with the parents that they need"
      onBlur={() => setAsked(false)}
      onClick={() => {
        setAsked(!inMemory && !isAsked)
        if (inMemory || isAsked) onMake()
      }}
    >
      {isAsked ? `Really write ${MADE_UP} made-up records into ${title}?` : `Make up ${MADE_UP}`}
    </button>
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
