/**
 * Runs the package with the oldest version of MikroORM that it accepts, and with the one that npm installs by itself: one copy of MikroORM,
 * types that fit, and the same answers. With SPEC_ORM=every npm installs each published version, and each shows the defects that
 * docs/upstream reports of it; otherwise the oldest stands in a copy of what npm has installed. The app is compiled where it is installed;
 * in the package's own folder its spec checks the types.
 */
import assert from 'node:assert/strict'
import { copyFile, cp, mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { readReports, runReports } from './upstream.ts'

/** Reads and writes with and without hooks and subscribers, and a file whose entities are read from it. */
export const APP = `
import { defineEntity, p, raw } from '@mikro-orm/core'
import { RestEngine } from 'mikro-rest'
import type { EngineOptions, RestResponse } from 'mikro-rest'

function model(heard: string[] | undefined) {
  const hear = (event: string) => (): void => void heard?.push(event)
  const hooks = heard === undefined ? {} : { beforeCreate: [hear('create')], beforeUpdate: [hear('update')], beforeDelete: [hear('delete')] }
  const User = defineEntity({
    name: 'User',
    hooks,
    properties: {
      id: p.integer().primary(),
      email: p.string().unique(),
      name: p.string().fieldName('2nd name'),
      posts: () => p.oneToMany(Post).mappedBy('author').orphanRemoval(),
    },
  })
  const Post = defineEntity({
    name: 'Post',
    properties: {
      id: p.integer().primary(),
      title: p.string(),
      tags: p.array(),
      author: () => p.manyToOne(User),
      editor: () => p.manyToOne(User).targetKey('email').joinColumn('editor').nullable(),
    },
  })
  return [User, Post] as const
}

const answers: unknown[] = []
function note({ status, body }: RestResponse): void {
  const { timestamp, ...rest } = body as Record<string, unknown>
  answers.push([status, rest])
}

async function use(engine: RestEngine): Promise<void> {
  await engine.seed({ users: [{ id: 1, email: 'a@x', name: 'Ann' }], posts: [{ title: 'One', tags: ['a'], author: 1, editor: 1 }] })
  note(await engine.handle('POST', '/v1/users', undefined, { email: 'b@x', name: 'Bob', posts: [{ title: 'Two', tags: [], editor: 1 }] }))
  note(await engine.handle('POST', '/v1/users', undefined, { email: 'b@x', name: 'Bo' }))
  note(await engine.handle('PUT', '/v1/users/1', undefined, { name: 'An\\0na' }))
  note(await engine.handle('PUT', '/v1/users/2', undefined, { posts: [{ title: 'Three', tags: ['b', 'c'] }] }))
  note(await engine.handle('PUT', '/v1/posts/1', undefined, { editor: 2, author: 2 }))
  note(await engine.handle('GET', '/v1/users', { 'posts.title': 'T*', expand: 'posts', sort: 'name.desc' }))
  note(await engine.handle('GET', '/v1/posts', { expand: 'author,editor', depth: 2 }))
  note(await engine.handle('DELETE', '/v1/users/2'))
  note(await engine.handle('GET', '/v1/posts'))
  const em = engine.orm.em.fork()
  const rows = await em.getConnection().execute(raw('select count(*) as n from user where id >= :id', { id: 1 }))
  const found = await em.find('User' as never, {})
  answers.push([rows, found.length])
}

for (const heard of [undefined, [] as string[]]) {
  const [User, Post] = model(heard)
  const options: EngineOptions = { entities: [User, Post], journal: heard === undefined ? 0 : 10 }
  const engine = await RestEngine.create(options)
  await use(engine)
  const user = await engine.orm.em.fork().findOneOrFail(User, { email: 'a@x' })
  const name: string = user.name
  answers.push([name, heard])
  await engine.close()
}

const database = process.argv[2]!
const [User, Post] = model(undefined)
const made = await RestEngine.create({ entities: [User, Post], database })
await use(made)
await made.close()
const read = await RestEngine.create({ database })
note(await read.handle('POST', '/v1/users', undefined, { email: 'c@x', '2ndName': 'Cid' }))
note(await read.handle('GET', '/v1/users', { sort: '2ndName.desc' }))
await read.close()
console.log(JSON.stringify(answers))
`

const SETTINGS = {
  target: 'es2024',
  lib: ['es2024', 'esnext.disposable'],
  module: 'nodenext',
  strict: true,
  skipLibCheck: true,
  types: ['node'],
}

/** What `npm pack` says of a package. */
interface PackedFile {
  readonly name: string
  readonly filename: string
}

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** The parts of the package's spec that are needed here. */
export interface Packed {
  readonly root: string
  /** The reason why nothing can be installed, if there is one. */
  offline(): string | undefined
  tarball(): string
  /** The folder that npm has installed the package in, with the MikroORM that it takes by itself. */
  installed(): string
  /** The range of MikroORM's versions that the package takes. */
  range(): Promise<string>
  run(command: string, args: readonly string[], cwd: string): Promise<Ended>
}

/** The first version of a range like ^7.2. */
function oldest(range: string): string {
  const [, line] = /^\^(\d+\.\d+)$/.exec(range) ?? []
  assert.ok(line, range)
  return `${line}.0`
}

export function testOrmVersions({ root, offline, tarball, installed, range, run }: Packed): void {
  const isEvery = process.env['SPEC_ORM'] === 'every'
  const succeed = async (command: string, args: readonly string[], cwd: string): Promise<string> => {
    const { code, stdout, stderr } = await run(command, args, cwd)
    assert.equal(code, 0, `${command} ${args.join(' ')}\n${stdout}\n${stderr}`)
    return stdout
  }

  /** Installs one version of MikroORM as npm does. */
  async function install(version: string, folder: string): Promise<void> {
    await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
    const packages = [`@mikro-orm/core@${version}`, `@mikro-orm/sqlite@${version}`, tarball()]
    await succeed('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', ...packages], folder)
  }

  /** Puts one version of MikroORM in the place of the one that npm has installed, which takes a fifth of an installation. */
  async function replace(version: string, folder: string): Promise<void> {
    await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
    const modules = join(installed(), 'node_modules')
    await mkdir(join(folder, 'node_modules'))
    for (const entry of await readdir(modules)) {
      if (entry === '@mikro-orm' || entry.startsWith('.')) continue
      const to = join(folder, 'node_modules', entry)
      // The package looks for MikroORM beside itself; what neither imports the other nor MikroORM may be a link.
      if (entry === 'mikro-rest') await cp(join(modules, entry), to, { recursive: true })
      else await symlink(join(modules, entry), to, 'junction')
    }
    const names = await readdir(join(modules, '@mikro-orm'))
    const wanted = names.map(name => `@mikro-orm/${name}@${version}`)
    const packed = JSON.parse(await succeed('npm', ['pack', '--json', '--prefer-offline', ...wanted], folder)) as Record<string, PackedFile>
    for (const { name, filename } of Object.values(packed)) {
      const to = join(folder, 'node_modules', name)
      await mkdir(to, { recursive: true })
      await succeed('tar', ['xzf', filename, '-C', to, '--strip-components', '1'], folder)
    }
  }

  /** Compiles an app on one version of MikroORM. */
  async function appOn(version: string): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'mikro-rest-orm-'))
    await (isEvery ? install : replace)(version, folder)
    await writeFile(join(folder, 'app.ts'), APP)
    const compilerOptions = { ...SETTINGS, typeRoots: [join(root, 'node_modules/@types')] }
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['app.ts'] }))
    await succeed(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder], folder)
    return folder
  }

  const versionIn = async (folder: string): Promise<string> => {
    const { version } = JSON.parse(await readFile(join(folder, 'node_modules/@mikro-orm/core/package.json'), 'utf8')) as { version: string }
    return version
  }

  const answersIn = async (folder: string): Promise<unknown> => {
    const file = join(folder, 'file.sqlite')
    const output = await succeed(process.execPath, ['app.js', file], folder)
    await rm(file)
    return JSON.parse(output)
  }

  const wanted = isEvery ? 'each published version' : 'the oldest version and that of a new installation'
  it(`runs beside ${wanted} of MikroORM that it takes, with one copy of it`, async t => {
    const reason = offline()
    if (reason !== undefined) return t.skip(reason)
    const accepted = await range()
    const versions = isEvery ? await published(accepted) : [oldest(accepted)]
    const folders = await Promise.all(versions.map(appOn))
    if (!isEvery) await copyFile(join(folders[0]!, 'app.js'), join(installed(), 'app.js'))
    let expected: unknown
    for (const [index, folder] of [...folders, ...(isEvery ? [] : [installed()])].entries()) {
      const version = versions[index] ?? (await versionIn(folder))
      const files = await readdir(join(folder, 'node_modules'), { recursive: true })
      const copies = files.filter(file => /@mikro-orm[\\/](?:core|sql|sqlite)[\\/]package\.json$/.test(file))
      assert.equal(copies.length, 3, `${version}: ${copies.join()}`)
      for (const copy of copies)
        assert.match(await readFile(join(folder, 'node_modules', copy), 'utf8'), new RegExp(`"version": "${version}"`))
      const answers = await answersIn(folder)
      assert.deepEqual(answers, (expected ??= answers), version)
      if (isEvery) await holdReports(version, folder)
    }
    await withOtherNames(folders[0]!)
    for (const folder of folders) await rm(folder, { recursive: true, force: true })
  })

  /** A report says in which version its defect is mended, if it is. */
  async function holdReports(version: string, folder: string): Promise<void> {
    const reports = readReports()
    const printed = await runReports(reports, folder)
    const isMended = (mendedIn: string): boolean => mendedIn.localeCompare(version, 'en', { numeric: true }) <= 0
    for (const [index, { page, happens, expected, mendedIn }] of reports.entries())
      assert.equal(printed[index], mendedIn !== undefined && isMended(mendedIn) ? expected : happens, `MikroORM ${version}: ${page}`)
  }

  async function published(accepted: string): Promise<string[]> {
    const printed = await succeed('npm', ['view', '--prefer-offline', `@mikro-orm/sqlite@${accepted}`, 'version', '--json'], root)
    // npm lists them in no certain order.
    const versions = [JSON.parse(printed) as string | string[]].flat().sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
    assert.ok(versions.length > 1, printed)
    assert.equal(versions[0], oldest(accepted))
    return versions
  }

  /** Runs the app on a MikroORM whose private members have other names, as in a future version: it is refused. */
  async function withOtherNames(folder: string): Promise<void> {
    const core = join(folder, 'node_modules/@mikro-orm/core')
    const rename = async (file: string, from: string, to: string): Promise<void> => {
      const text = await readFile(join(core, file), 'utf8')
      assert.ok(text.includes(from), from)
      await writeFile(join(core, file), text.replaceAll(from, to))
    }
    const refusals: [string, string, string][] = [
      ['unit-of-work/UnitOfWork.js', 'getCommitOrder', 'UnitOfWork.getCommitOrder'],
      ['unit-of-work/UnitOfWork.js', 'getChangeSetGroups', 'UnitOfWork.getChangeSetGroups'],
      ['unit-of-work/UnitOfWork.js', 'findExtraUpdates', 'UnitOfWork.findExtraUpdates'],
      ['utils/EntityComparator.js', 'wrap(', 'EntityComparator.wrap'],
    ]
    for (const [file, member, shown] of refusals) {
      await rename(file, member, `other${member}`)
      const { code, stderr } = await run(process.execPath, ['app.js', join(folder, 'file.sqlite')], folder)
      assert.notEqual(code, 0)
      const refusal = new RegExp(
        `MikroORM [\\d.]+ has no ${shown}, which this version of mikro-rest needs: install MikroORM 7\\.2, or a newer`,
      )
      assert.match(stderr, refusal)
      await rm(join(folder, 'file.sqlite'), { force: true })
      await rename(file, `other${member}`, member)
    }
  }
}
