/**
 * The install lines of the docs, and those that the program prints, resolved by npm itself (its library, in one process, without a download
 * of packages): in an empty project, and in projects that have the newest version of MikroORM and the one before it. A line must not end in
 * ERESOLVE anywhere.
 */
import assert from 'node:assert/strict'
import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync, realpathSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { formatInstall } from '../../lib/records/database/install-line.ts'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..')
const UNREACHABLE = /\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ENOTCACHED)\b/
const CORE = '@mikro-orm/core'
const SQLITE = '@mikro-orm/sqlite'
/** Packages that the package or MikroORM names as peers. */
const RELATED = ['pg', '@electric-sql/pglite']

/** What a process of npm's library is asked to resolve. */
interface Project {
  readonly title: string
  readonly dependencies: Readonly<Record<string, string>>
  readonly add: readonly string[]
}

interface Resolved {
  readonly error?: string
  /** The versions of MikroORM's packages. */
  readonly versions: readonly string[]
}

/** Runs beside npm's own modules. Prints the published versions, or what becomes of each project. */
const SCRIPT = `
const [npm, cache, task] = process.argv.slice(2)
const { join } = require('node:path')
const { mkdtempSync, rmSync, writeFileSync } = require('node:fs')
const options = { cache: join(cache, '_cacache'), preferOffline: true, packumentCache: new Map(), ...(process.env.npm_config_registry ? { registry: process.env.npm_config_registry } : {}) }
async function main() {
  const { names, projects = [], folder } = JSON.parse(task)
  if (names) {
    const pacote = require(join(npm, 'node_modules/pacote'))
    const lists = await Promise.all(names.map(async name => Object.keys((await pacote.packument(name, options)).versions)))
    return console.log(JSON.stringify(Object.fromEntries(names.map((name, index) => [name, lists[index]]))))
  }
  const Arborist = require(join(npm, 'node_modules/@npmcli/arborist'))
  const all = []
  for (const { dependencies, add } of projects) {
    const path = mkdtempSync(join(folder, 'project-'))
    writeFileSync(join(path, 'package.json'), JSON.stringify({ dependencies }))
    try {
      const tree = await new Arborist({ path, ...options }).buildIdealTree({ add })
      const own = [...tree.inventory.values()].filter(node => node.name.startsWith('@mikro-orm/'))
      all.push({ versions: [...new Set(own.map(node => node.version))] })
    } catch (error) {
      all.push({ error: [error.code, error.message].join(' '), versions: [] })
    }
  }
  console.log(JSON.stringify(all))
}
main().catch(error => { console.error(error.code, error.message); process.exit(1) })
`

/** The lines, as written: in blocks, and in backticks. */
function documentedLines(): string[] {
  const pages = ['README.md', ...globSync('docs/*.md', { cwd: root })]
  const lines = pages.flatMap(page => {
    const text = readFileSync(join(root, page), 'utf8')
    const found = [...text.matchAll(/^(npm install [^\n]*)|`(npm install [^`\n]+)`/gm)]
    return found.map(([, line, inline]) => (line ?? inline ?? '').replace(/\s+#.*/, '').trim())
  })
  return [...new Set(lines)]
}

const PRINTED = [formatInstall('@mikro-orm/postgresql', 'pg'), formatInstall('@electric-sql/pglite')]

/** Where npm's own modules are; undefined where it has come another way. */
function findNpm(): string | undefined {
  const { stdout } = spawnSync(process.platform === 'win32' ? 'where' : 'which', ['npm'], { encoding: 'utf8' })
  const [first = ''] = stdout.split('\n')
  if (!existsSync(first)) return undefined
  const folder = dirname(dirname(realpathSync(first)))
  return existsSync(join(folder, 'node_modules/@npmcli/arborist')) ? folder : undefined
}

function packagesOf(line: string): string[] {
  return line.split(' ').filter(word => word !== 'npm' && word !== 'install' && !word.startsWith('-'))
}

function nameOf(spec: string): string {
  return spec.replace(/(?<=.)@.*/, '')
}

function byNewest(a: string, b: string): number {
  const [left, right] = [a, b].map(version => version.split('.').map(Number))
  return right!.map((part, index) => part - left![index]!).find(difference => difference !== 0) ?? 0
}

const npm = findNpm()

describe('the install lines', { skip: npm === undefined ? 'npm is not a package of its own here' : false, timeout: 600_000 }, () => {
  let folder: string
  let tarball: string
  let offline: string | undefined
  let cache = ''
  let published: Record<string, string[]>

  async function ask(task: object): Promise<unknown> {
    const script = join(folder, 'resolve.cjs')
    await writeFile(script, SCRIPT)
    const { stdout } = await promisify(execFile)(process.execPath, [script, npm!, cache, JSON.stringify({ folder, ...task })], {
      maxBuffer: 1e8,
    })
    return JSON.parse(stdout)
  }

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mikro-rest-install-'))
    cache = execFileSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8', shell: process.platform === 'win32' }).trim()
    // What npm resolves by is the manifest alone.
    await mkdir(join(folder, 'package'))
    await writeFile(join(folder, 'package/package.json'), readFileSync(join(root, 'package.json')))
    tarball = join(folder, 'mikro-rest.tgz')
    execFileSync('tar', ['czf', tarball, '-C', folder, 'package'])
    try {
      published = (await ask({
        names: [CORE, SQLITE, ...['postgresql', 'seeder', 'migrations'].map(name => `@mikro-orm/${name}`)],
      })) as Record<string, string[]>
    } catch (error) {
      const [reason] = UNREACHABLE.exec(String((error as { stderr?: string }).stderr)) ?? []
      if (reason === undefined) throw error
      offline = `npm cannot reach its registry (${reason})`
    }
  })
  after(() => rm(folder, { recursive: true, force: true }))

  /** The versions that all of some packages have, the newest first. */
  function versionsOf(names: readonly string[]): string[] {
    const lists = names.map(name => published[name]!.filter(version => /^7\.[2-9]\d*\.\d+$/.test(version)))
    return lists[0]!.filter(version => lists.every(list => list.includes(version))).toSorted(byNewest)
  }

  function projectsOf(line: string): Project[] {
    const given = packagesOf(line)
    const names = given.map(nameOf).filter(name => name.startsWith('@mikro-orm/'))
    const at = (version: string): string[] =>
      given.map(spec =>
        nameOf(spec) === 'mikro-rest' ? tarball : nameOf(spec).startsWith('@mikro-orm/') ? `${nameOf(spec)}@${version}` : spec,
      )
    const own = given.includes('mikro-rest')
    const others: Record<string, string> = own ? {} : { 'mikro-rest': tarball, [SQLITE]: '' }
    const [newest, before] = versionsOf([...new Set([CORE, SQLITE, ...names])])
    // What has nothing to do with MikroORM is resolved beside the newest alone.
    const concerned = own || names.length > 0 || given.some(spec => RELATED.includes(nameOf(spec)))
    const having = [newest, ...(concerned && before !== undefined ? [before] : [])].map((version, index): Project => {
      const dependencies = Object.fromEntries(Object.entries({ [CORE]: '', ...others }).map(([name, spec]) => [name, spec || version!]))
      return { title: `${line}, with MikroORM ${version} (${index === 0 ? 'newest' : 'before'})`, dependencies, add: at(version!) }
    })
    const asWritten = given.map(spec => (spec === 'mikro-rest' ? tarball : spec))
    return [...having, ...(own ? [{ title: `${line}, in an empty project`, dependencies: {}, add: asWritten }] : [])]
  }

  it('are known', () => {
    const lines = documentedLines()
    for (const name of ['mikro-rest', '@mikro-orm/sqlite', '@mikro-orm/postgresql', 'pg', '@electric-sql/pglite'])
      assert.ok(
        lines.some(line => packagesOf(line).map(nameOf).includes(name)),
        name,
      )
    const locked = (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { devDependencies: Record<string, string> })
      .devDependencies
    for (const spec of lines.flatMap(packagesOf).filter(each => each.startsWith('@mikro-orm/')))
      assert.equal(spec, `${nameOf(spec)}@${locked[nameOf(spec)]}`)
  })

  it('resolve in an empty project, beside the newest MikroORM, and beside the one before', async t => {
    if (offline !== undefined) return t.skip(offline)
    const bare: Project = { title: 'npm install mikro-rest, as npx does', dependencies: {}, add: [tarball] }
    const all = [bare, ...[...documentedLines(), ...PRINTED].flatMap(projectsOf)]
    // Lines that differ in --save-dev, or in a version that is given, ask for the same.
    const projects = [...new Map(all.map(project => [JSON.stringify([project.dependencies, project.add]), project])).values()]
    assert.ok(projects.length > 12, `${projects.length}`)
    const resolved = (await ask({ projects })) as Resolved[]
    const failed = resolved.flatMap(({ error, versions }, index) =>
      error === undefined && versions.length === 1 ? [] : [`${projects[index]!.title}: ${error ?? `MikroORM ${versions.join(' and ')}`}`],
    )
    assert.deepEqual(failed, [])
  })
})
