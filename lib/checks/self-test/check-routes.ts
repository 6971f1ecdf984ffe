/**
 * Check routes: that the index, the description and custom routes of the application are answered as the document describes them. A custom
 * route is sent the key of no record and an empty body, since only its handler knows what it takes: it must answer, with a refusal if need
 * be.
 */
import type { Probe, Case } from './probe.ts'
import type { TestedVersion } from './subject.ts'

export async function checkRoutes(probe: Probe, version: TestedVersion, begin: () => Promise<Case>): Promise<void> {
  for (const { method, template, node } of version.document.operations) {
    const tags = (node['tags'] ?? []) as readonly string[]
    if (!tags.includes('routes') && !tags.includes('general')) continue
    const test = method === 'GET' ? probe.begin() : await begin()
    const path = version.base + template.replaceAll(/\{\w+\}/g, '1')
    await test.ask(method, path, ['POST', 'PUT', 'PATCH'].includes(method) ? {} : undefined)
  }
}
