/** Pager: links to other pages. */
import { withOffset, type ShownQuery, type ParameterNames } from './list-query.ts'
import type { ShownPage } from './read-page.ts'

interface PagerProps {
  readonly page: ShownPage | undefined
  readonly asked: ShownQuery
  readonly names: ParameterNames
  readonly query: string
  readonly name: string
  readonly hrefWith: (query: string) => string
}

export function Pager({ page, asked: { offset }, names, query, name, hrefWith }: PagerProps) {
  if (page === undefined) return null
  const { count, records, limit } = page
  const last = Math.max(0, Math.floor((count - 1) / limit) * limit)
  const link = (to: number, text: string, label: string, isThere: boolean) =>
    isThere ? (
      <a class="button" href={hrefWith(withOffset(query, names.offset, to))} aria-label={label}>
        {text}
      </a>
    ) : (
      <span class="button" aria-disabled="true" role="link" aria-label={label}>
        {text}
      </span>
    )
  const shown = records.length === 0 ? '0' : `${(offset + 1).toLocaleString('en')} to ${(offset + records.length).toLocaleString('en')}`
  return (
    <>
      <span class="dim" role="status">
        {name}: {shown} of {count.toLocaleString('en')}
      </span>
      <nav aria-label="Pages" class="pages">
        {link(0, '⇤', 'First page', offset > 0)}
        {link(offset - limit, '←', 'Page before', offset > 0)}
        {link(offset + limit, '→', 'Next page', offset + limit < count)}
        {link(last, '⇥', 'Last page', offset < last)}
      </nav>
    </>
  )
}
