/**
 * What axe finds in a page of a browser. Its small form is sent, and its findings alone come back: the rest of a report, all that is well
 * with each element, takes longer to carry over than to find.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from '@playwright/test'

const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const RUN = `axe.run({ resultTypes: ['violations'] }).then(({ violations }) =>
  violations.map(({ id, impact, nodes }) => ({ id, impact, at: nodes.slice(0, 3).map(({ html }) => html) })))`

export async function findViolations(page: Page): Promise<unknown[]> {
  if (!(await page.evaluate<boolean>(`'axe' in globalThis`))) await page.evaluate(SOURCE)
  return page.evaluate<unknown[]>(RUN)
}
