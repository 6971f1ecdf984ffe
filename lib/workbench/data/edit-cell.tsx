/** Edits a value in the table. Enter, Tab and leaving the cell save, Escape cancels; a refusal appears below the field. */
import type { RefObject } from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Refusal } from '../state/ask.ts'
import { findResource, type OutlinedAttribute, type OutlinedResource } from '../state/outline.ts'
import { textOf, valueOf, type AnyRecord } from '../state/records.ts'
import { describeLink } from './links.ts'
import { readFaults } from './field-faults.ts'
import { Field } from './field.tsx'
import { readDraft, writeDraft, type FieldDraft } from './input-text.ts'
import { changeRecord } from './save.ts'

/** The next focus: this cell, the next or previous editable cell, or `nowhere` if the focus is already elsewhere. */
export type Leaving = 'stay' | 'next' | 'before' | 'nowhere'

interface EditCellProps {
  readonly resource: OutlinedResource
  readonly record: AnyRecord
  readonly id: string
  readonly column: OutlinedAttribute
  readonly onLeave: (where: Leaving) => void
}

export function EditCell({ resource, record: given, id, column, onLeave: leave }: EditCellProps) {
  // The version from the start of editing reveals changes by others.
  const [record] = useState(given)
  const before = valueOf(record, column)
  const link = describeLink(before, column)
  const draft = useRef<FieldDraft>(writeDraft(column, before, link.id))
  const [, redraw] = useState(0)
  const { hasLeft, onLeave } = useLeaving(leave)
  const { fault, isSaving, save } = useSave({ resource, record, id, column, before: link.id ?? before, onLeave })
  const faultId = useId()
  const cell = useRef<HTMLDivElement>(null)
  useFocus(cell)
  const commit = (where: Leaving): void => void save(draft.current, where)
  return (
    <div
      ref={cell}
      class="edit-cell"
      aria-busy={isSaving}
      onKeyDown={event => listen(event, commit, onLeave)}
      onMouseDown={event => {
        if ((event.target as Element).closest('[role=option]') !== null) queueMicrotask(() => commit('stay'))
      }}
      onFocusOut={event => {
        const isInside = event.relatedTarget instanceof Node && event.currentTarget.contains(event.relatedTarget)
        // Another window has the focus, so the reader may return.
        if (!isInside && !isSaving && !hasLeft.current && document.hasFocus()) commit('nowhere')
      }}
    >
      <Field
        attribute={column}
        label={`${column.name} of ${resource.singular} ${id}`}
        draft={draft.current}
        before={before}
        linkText={link.text}
        faultId={fault === undefined ? undefined : faultId}
        mayGrow={false}
        onChange={value => {
          draft.current = value
          redraw(count => count + 1)
        }}
      />
      {fault === undefined ? null : (
        <p id={faultId} class="fault" role="alert">
          {fault}
        </p>
      )}
    </div>
  )
}

/** Browsers also fire `focusout` for a removed field: leaves only once. */
function useLeaving(leave: EditCellProps['onLeave']) {
  const hasLeft = useRef(false)
  const onLeave = (where: Leaving): void => {
    if (!hasLeft.current) leave(where)
    hasLeft.current = true
  }
  return { hasLeft, onLeave }
}

function useFocus(cell: RefObject<HTMLDivElement | null>): void {
  useLayoutEffect(() => {
    const field = cell.current?.querySelector<HTMLInputElement>('input, select')
    field?.focus()
    if (field?.tagName === 'INPUT') field.select()
  }, [])
}

function listen(event: KeyboardEvent, commit: (where: Leaving) => void, onLeave: (where: Leaving) => void): void {
  event.stopPropagation()
  if (event.key === 'Escape') onLeave('stay')
  else if (event.key === 'Enter') commit('stay')
  else if (event.key === 'Tab') commit(event.shiftKey ? 'before' : 'next')
  else return
  event.preventDefault()
}

interface Saving {
  readonly resource: OutlinedResource
  readonly record: AnyRecord
  readonly id: string
  readonly column: OutlinedAttribute
  readonly before: unknown
  readonly onLeave: (where: Leaving) => void
}

function useSave({ resource, record, id, column, before, onLeave }: Saving) {
  const [fault, setFault] = useState<string>()
  const [isSaving, setSaving] = useState(false)
  const target = column.target === undefined ? undefined : findResource(column.target)
  const save = async (draft: FieldDraft, where: Leaving): Promise<void> => {
    // Enter saves, and leaving the field would save again.
    if (isSaving) return
    setSaving(true)
    try {
      const value = readDraft(draft ?? null, column, target)
      // IDs are numbers in some answers, texts in paths.
      const isSame =
        column.kind === 'toOne' ? textOf(value ?? '') === textOf(before ?? '') : JSON.stringify(value) === JSON.stringify(before)
      if (!isSame) await changeRecord(resource, id, record, { [column.ids ?? column.name]: value })
      onLeave(where)
    } catch (error) {
      setFault(describeFault(error as Error, resource, column))
      setSaving(false)
    }
  }
  return { fault, isSaving, save }
}

function describeFault(error: Error, resource: OutlinedResource, { name }: OutlinedAttribute): string {
  if (!(error instanceof Refusal)) return error.message
  if (error.answer.status === 412 || error.answer.status === 409) return `${error.message} Press Escape to see the record as it is now.`
  const { byName } = readFaults(error.answer.body, resource)
  return byName.get(name) ?? error.message
}
