/** Writes several records, and shows a text for each refused. */
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { OutlinedResource } from '../state/outline.ts'
import type { SeveralFaults } from './save.ts'

export function nameRecords({ singular, name }: OutlinedResource, ids: readonly string[]): string {
  return ids.length === 1 ? `${singular} ${ids[0]}` : `${ids.length} ${name}`
}

/** @param onDone called unless a record was refused */
export function useSeveral(onDone: () => void) {
  const [faults, setFaults] = useState<SeveralFaults>([])
  const [isBusy, setBusy] = useState(false)
  const run = async (work: () => Promise<SeveralFaults>): Promise<void> => {
    setBusy(true)
    try {
      const found = await work()
      setFaults(found)
      if (found.length === 0) onDone()
    } catch (error) {
      setFaults([(error as Error).message])
    }
    setBusy(false)
  }
  return { faults, isBusy, run }
}

const SHOWN = 20

interface SeveralDialogProps {
  readonly title: string
  readonly faults: SeveralFaults
  readonly onClose: () => void
  readonly children: ComponentChildren
}

export function SeveralDialog({ title, faults, onClose, children }: SeveralDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog ref={dialog} class="dialog" aria-label={title} onClose={onClose}>
      <h2>{title}</h2>
      {children}
      <ul class="faults" role="alert">
        {faults.slice(0, SHOWN).map(fault => (
          <li key={fault}>{fault}</li>
        ))}
        {faults.length > SHOWN ? <li>and {faults.length - SHOWN} more</li> : null}
      </ul>
    </dialog>
  )
}
