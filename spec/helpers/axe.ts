/**
 * What axe finds in a page of a browser. Its small form is sent, and its findings alone come back: the rest of a report, all that is well
 * with each element, takes longer to carry over than to find.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from '@playwright/test'

const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const RUN = `axe.run({ exclude: findLike() }, { resultTypes: ['violations'] }).then(({ violations }) =>
  violations.map(({ id, impact, nodes }) => ({ id, impact, at: nodes.slice(0, 3).map(({ html }) => html) })))`

/**
 * Elements that differ from two siblings before them in their texts alone, and in the numbers and addresses of their attributes: rows of
 * tables, items of lists. What axe would find in them it finds in those two, and an audit of fifty rows takes five times that of two.
 */
const FIND_LIKE = `globalThis.findLike = () => {
  const kindOf = element =>
    element.cloneNode(true).outerHTML.replaceAll(/>[^<]*[^\\s<][^<]*</g, '>text<').replaceAll(/ (?:href|id|title)="[^"]+"|\\d+/g, '')
  return [...document.querySelectorAll('tbody, ul, ol')].flatMap(list => {
    const seen = new Map()
    return [...list.children].filter(child => {
      const kind = kindOf(child)
      seen.set(kind, (seen.get(kind) ?? 0) + 1)
      return seen.get(kind) > 2
    })
  })
}`

export async function findViolations(page: Page): Promise<unknown[]> {
  if (!(await page.evaluate<boolean>(`'axe' in globalThis`))) await page.evaluate(`${SOURCE};${FIND_LIKE}`)
  return page.evaluate<unknown[]>(RUN)
}
