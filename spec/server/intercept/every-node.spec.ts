/**
 * Interception on every supported Node and every supported undici, for their dispatchers differ: all of them with SPEC_NODES=every,
 * otherwise some that have each undici, and the oldest Node. The Nodes and packages are installed beside the repository, once: in
 * MIKRO_REST_CACHE, or in the folder for temporary files.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { transformSync } from 'esbuild'
import { LIBRARY, ROOT } from '../../helpers/command.ts'

const MINUTES = 60_000
const cache = process.env['MIKRO_REST_CACHE'] ?? join(tmpdir(), 'mikro-rest-cache')

/** The lowest that the package supports, the last of its line, and the one that runs this. */
const NODES = ['22.17.0', '22.23.3', undefined] as const
const UNDICI = ['6.29.1', '7.30.2', undefined] as const

interface Pair {
  readonly node: (typeof NODES)[number]
  readonly undici: (typeof UNDICI)[number]
  readonly when: 'early' | 'late'
}

const EVERY: readonly Pair[] = NODES.flatMap(node =>
  UNDICI.flatMap(undici => {
    // Undici 6 and 7 look where Node itself does; 8 looks elsewhere first, where an older Node has put nothing.
    const times = undici === undefined ? (['early', 'late'] as const) : (['early'] as const)
    return times.map(when => ({ node, undici, when }))
  }),
)

/** The own process has the undici of the repository on the Node that runs it: in the specs beside this one. */
const USUAL: readonly Pair[] = [
  { node: NODES[0], undici: UNDICI[0], when: 'early' },
  { node: NODES[0], undici: UNDICI[2], when: 'late' },
  { node: NODES[2], undici: UNDICI[1], when: 'early' },
]

const pairs = process.env['SPEC_NODES'] === 'every' ? EVERY : USUAL

/** Why npm could not reach its registry, if that is what went wrong. */
const UNREACHABLE = /\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ENOTCACHED)\b/

/** The folder of an installed package, or why it cannot be installed. */
function install(name: string, version: string): { readonly folder: string } | { readonly offline: string } {
  const prefix = join(cache, `${name}-${version}`)
  const folder = join(prefix, 'node_modules', name)
  const done = join(prefix, 'installed')
  if (existsSync(done)) return { folder }
  mkdirSync(prefix, { recursive: true })
  const args = ['install', '--no-save', '--no-audit', '--no-fund', '--prefer-offline', '--prefix', prefix, `${name}@${version}`]
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd: prefix, encoding: 'utf8', timeout: 3 * MINUTES })
  if (status === 0) {
    writeFileSync(done, '')
    return { folder }
  }
  const [reason] = UNREACHABLE.exec(stderr) ?? []
  assert.ok(reason, `npm ${args.join(' ')}\n${stdout}\n${stderr}`)
  return { offline: `npm cannot reach its registry (${reason})` }
}

/** Writes the script in JavaScript, for the library as it is published: every Node reads that by itself, where its packages are found. */
function writeScript(): string {
  const text = readFileSync(new URL('on-this-node.ts', import.meta.url), 'utf8')
  const folder = mkdtempSync(join(ROOT, 'node_modules/.cache/every-node-'))
  const script = join(folder, 'on-this-node.mjs')
  const { code } = transformSync(text.replace("'../../../lib/index.ts'", JSON.stringify(LIBRARY)), { loader: 'ts', target: 'node22' })
  writeFileSync(script, code)
  return script
}

for (const node of new Set(pairs.map(pair => pair.node))) {
  describe(`interception on Node ${node ?? process.versions.node}`, { timeout: 5 * MINUTES }, () => {
    let binary = process.execPath
    let offline: string | undefined
    let script: string
    after(() => rmSync(dirname(script), { recursive: true, force: true }))
    before(() => {
      script = writeScript()
      if (node === undefined) return
      const installed = install('node', node)
      if ('offline' in installed) ({ offline } = installed)
      else binary = join(installed.folder, 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
    })
    for (const { undici: version, when } of pairs.filter(pair => pair.node === node)) {
      it(`serves undici ${version ?? 'of the repository'}, loaded ${when}`, t => {
        const installed = version === undefined ? undefined : install('undici', version)
        if (installed !== undefined && 'offline' in installed) ({ offline } = installed)
        const folder = installed !== undefined && 'folder' in installed ? installed.folder : ''
        if (offline !== undefined) return t.skip(offline)
        const file = installed === undefined ? createRequire(import.meta.url).resolve('undici') : join(folder, 'index.js')
        const args = ['--no-warnings', script, file, when]
        const { status, stdout, stderr } = spawnSync(binary, args, { encoding: 'utf8', timeout: MINUTES })
        assert.equal(status, 0, stdout + stderr)
        assert.equal(stdout, `Node v${node ?? process.versions.node} holds\n`)
      })
    }
  })
}
