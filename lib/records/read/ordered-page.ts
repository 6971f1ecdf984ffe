/** Ordered page: knows the order, and where the next page by keys begins. */
import type { Resource } from '../../model/model.ts'
import { formatStart, refuseStart, type KeyStart } from '../request/key-start.ts'
import type { RecordPage } from './run-read.ts'

export type OrderedPage = Omit<RecordPage, 'last'> & { readonly sort: string; readonly after?: string }

export function checkStart(start: KeyStart, { plural }: Resource, sort: string): void {
  if (start.after !== undefined && start.after.of !== `${plural} ${sort}`) throw refuseStart(start, 'is a cursor of another list or order')
}

export function finishPage({ records, count, last = [] }: RecordPage, { plural }: Resource, sort: string): OrderedPage {
  return { records, count, sort, after: formatStart(`${plural} ${sort}`, last) }
}
