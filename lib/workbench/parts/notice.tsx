/** Shows an error, a text for an empty list, or grey rows in the place of data to come. */
import type { ComponentChildren } from 'preact'
import { Refusal } from '../state/ask.ts'

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

export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty">
      <strong>{title}</strong>
      {typeof children === 'string' ? <p>{children}</p> : children}
    </div>
  )
}

interface SkeletonProps {
  readonly rows: number
}

export function Skeleton({ rows }: SkeletonProps) {
  return (
    <div class="skeleton" aria-hidden="true">
      {Array.from({ length: rows }, (_, index) => (
        <div key={index} />
      ))}
    </div>
  )
}
