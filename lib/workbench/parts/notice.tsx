/** Notice: an error in the words of the API, and what stands where there is nothing to show. */
import type { ComponentChildren } from 'preact'
import { Refusal } from '../state/ask.ts'

/** An error, with what may be done about it. */
export function ErrorNotice({ error, children }: { readonly error: Error; readonly children?: ComponentChildren }) {
  const [title, detail] = error instanceof Refusal ? [error.name, error.message] : ['The server does not answer', error.message]
  return (
    <div class="notice bad" role="alert">
      <strong>{title}</strong>
      {detail === title ? null : <p>{detail}</p>}
      {children}
    </div>
  )
}

/** What stands in the place of something that is empty. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty">
      <strong>{title}</strong>
      {children === undefined ? null : <p>{children}</p>}
    </div>
  )
}
