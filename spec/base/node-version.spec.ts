/** The version of Node: an older one than package.json asks for is named, where the driver would end the process. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { it } from 'node:test'
import { requireNode } from '../../lib/foundation/base/node-version.ts'

it('an older Node than package.json asks for is refused in one line', () => {
  const { engines } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { engines: { node: string } }
  const least = engines.node.replace('>=', '')
  const [major = 0, minor = 0] = least.split('.').map(Number)
  for (const version of [least, `${major}.${minor + 1}.0`, `${major + 1}.0.0`, process.versions.node]) requireNode(version)
  for (const version of ['20.20.2', `${major}.${minor - 1}.9`, `${major - 1}.99.0`])
    assert.throws(() => requireNode(version), { message: `mikro-rest needs Node ${least} or newer, and this is Node ${version}.` })
})
