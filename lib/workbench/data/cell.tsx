/** Shows a value as text, never as HTML. */
import { findResource, type OutlinedAttribute } from '../state/outline.ts'
import { idOf, labelOf, textOf, type AnyRecord } from '../state/records.ts'
import { readableTime } from './date-text.ts'
import { hrefOfRecord } from './links.ts'

/** Characters in a cell, cut earlier by the style; the record panel shows the whole value. */
const SHOWN = 120
const SHORT = 30

interface ValueProps {
  readonly value: unknown
  readonly attribute: OutlinedAttribute
  readonly isWhole?: boolean
  readonly tabIndex?: number
}

export function Value({ value, attribute, isWhole = false, tabIndex }: ValueProps) {
  if (value === null) return <span class="null">null</span>
  if (value === undefined) return <span class="null">not shown</span>
  if (attribute.kind === 'toOne') return <Link value={value} target={attribute.target} tabIndex={tabIndex} />
  if (typeof value === 'boolean') return <span class="word">{String(value)}</span>
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, isWhole && typeof value === 'object' ? 2 : undefined)
  if (isWhole && /^https?:\/\/\S+$/.test(text))
    return (
      <a href={text} target="_blank" rel="noreferrer noopener">
        {text}
      </a>
    )
  if (text === '') return <span class="null">empty text</span>
  const time = typeof value === 'string' && attribute.kind === 'scalar' ? readableTime(value) : undefined
  if (time !== undefined)
    return (
      <time dateTime={text} title={text}>
        {time}
      </time>
    )
  return (
    <span class={typeof value === 'object' ? 'code' : undefined} title={isWhole || text.length <= SHORT ? undefined : text.slice(0, 2000)}>
      {isWhole || text.length <= SHOWN ? text : `${text.slice(0, SHOWN)}…`}
    </span>
  )
}

interface LinkProps {
  readonly value: unknown
  readonly target: string | undefined
  readonly tabIndex: number | undefined
}

function Link({ value, target, tabIndex }: LinkProps) {
  const resource = target === undefined ? undefined : findResource(target)
  const isRecord = typeof value === 'object' && value !== null
  const id = !isRecord ? textOf(value) : resource === undefined ? undefined : idOf(value as AnyRecord, resource)
  if (resource === undefined || id === undefined) return <span class="code">{JSON.stringify(value)}</span>
  const label = isRecord ? labelOf(value as AnyRecord, resource) : ''
  return (
    <a
      href={hrefOfRecord(resource.name, id)}
      title={`${resource.singular} ${label === '' || label === id ? id : `${id}: ${label}`}`}
      tabIndex={tabIndex}
    >
      <span class="id">{id}</span>
      {label === '' || label === id ? '' : ` ${label}`}
    </a>
  )
}
