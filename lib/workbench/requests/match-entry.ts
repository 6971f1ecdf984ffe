/**
 * Filters requests by words such as a method, a status (`404`, `5xx`), a changed resource or record (`campaigns/7`), a fault (`f3`), a part
 * of a test's name, or of the path.
 */
import type { RequestSummary } from '../../engine/journal/journal-entry.ts'

export interface EntryFilter {
  readonly words: string
  /** Only requests by writing methods, or with changed rows. */
  readonly writes: boolean
  /** Only answers of 400 or above, and unanswered requests. */
  readonly failures: boolean
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY']

export function matchEntry(entry: RequestSummary, { words, writes, failures }: EntryFilter): boolean {
  if (writes && ['GET', 'HEAD', 'OPTIONS', 'QUERY'].includes(entry.method) && (entry.changed ?? 0) === 0) return false
  if (failures && entry.status !== undefined && entry.status < 400) return false
  return words
    .split(/\s+/)
    .filter(word => word !== '')
    .every(word => matchWord(entry, word))
}

function matchWord(entry: RequestSummary, word: string): boolean {
  const { method, path, status, fault, test, changes } = entry
  if (METHODS.includes(word.toUpperCase())) return method === word.toUpperCase()
  if (/^[1-5](?:\d\d|xx)$/i.test(word)) return String(status ?? '').startsWith(word.replace(/x/gi, ''))
  if (/^f\d+$/.test(word)) return fault === word
  const lower = word.toLowerCase()
  const [resource, id] = lower.split('/')
  return (
    path.toLowerCase().includes(lower) ||
    test?.toLowerCase().includes(lower) === true ||
    changes?.some(change => change.resource.toLowerCase() === resource && (id === undefined || String(change.id).toLowerCase() === id)) ===
      true
  )
}
