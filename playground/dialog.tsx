/** Dialog: a modal dialog of the playground. */
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'

interface DialogProps {
  readonly title: string
  readonly children: ComponentChildren
  readonly onClose: () => void
  /** Elsewhere a browser opens the dropped file in place of the page. */
  readonly onDrop?: (file: File | undefined) => void
}

export function Dialog({ title, children, onClose, onDrop }: DialogProps) {
  const id = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current!.showModal(), [])
  return (
    <dialog
      ref={dialog}
      class="dialog wide"
      aria-labelledby={id}
      onClose={onClose}
      onDragOver={event => event.preventDefault()}
      onDrop={event => {
        event.preventDefault()
        onDrop?.(event.dataTransfer?.files[0])
      }}
    >
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  )
}

export function Problem({ error }: { readonly error: Error | undefined }) {
  return <div role="alert">{error === undefined ? null : <p class="notice bad problem">{error.message}</p>}</div>
}
