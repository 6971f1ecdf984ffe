/**
 * The package, as users get it: packed, installed into an empty folder, imported, type-checked against and run from there. Whatever works
 * in the repository only (a file that is not published, a dependency that is not declared, an import of a source file) fails here.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { bundledPage } from '../helpers/bundled-page.ts'
import { COMMAND, SOURCE_COMMAND } from '../helpers/command.ts'
import { declaredTypes } from '../helpers/declared-types.ts'
import { describeApps, describeGuides, describeSample } from '../helpers/guides.ts'
import { namesBelow } from '../helpers/markdown.ts'
import { APP, testOrmVersions } from '../helpers/orm-versions.ts'
import { describeRuntimes } from '../helpers/runtimes.ts'
import { userEnvironment } from '../helpers/user-environment.ts'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..')
const MINUTES = 60_000
// Packing compiles, and installing loads two database packages.
const TIMEOUT = 30 * MINUTES

/** All that the package exports; what is missing or added here is missing or added for every user. */
const VALUES = [
  'ERRORS',
  'FIELD_ERRORS',
  'RestEngine',
  'RestError',
  'auth',
  'checkAgainst',
  'client',
  'createServer',
  'fileType',
  'fromJson',
  'hashPassword',
  'listener',
  'literal',
  'resource',
]
const TYPES = [
  'AccessRule',
  'Action',
  'AskOptions',
  'AttributeRules',
  'AuthModule',
  'AuthOptions',
  'BodyValue',
  'CallOptions',
  'Change',
  'Claims',
  'Client',
  'ClientEntities',
  'ClientEntity',
  'ClientMethods',
  'ClientOptions',
  'ClientTarget',
  'Clock',
  'ClockSetting',
  'ComputedAttribute',
  'ComputedGroup',
  'CorsOrigins',
  'CustomParameter',
  'Delay',
  'Deleted',
  'Depth',
  'DiagramOptions',
  'Difference',
  'DifferenceKind',
  'DriftOptions',
  'DriftReport',
  'DropOptions',
  'EngineEvent',
  'EngineHandle',
  'EngineOptions',
  'EnvelopeOption',
  'EnvelopeTemplate',
  'EnvelopeTemplates',
  'ErrorBody',
  'ErrorCode',
  'Expandable',
  'ExpectedChange',
  'ExpectedChanges',
  'ExplainedStatement',
  'Explanation',
  'FailOptions',
  'FailedRequest',
  'FailureDetails',
  'FaultHandle',
  'FaultOptions',
  'FaultRequest',
  'FaultState',
  'FieldError',
  'FieldErrorCode',
  'FileType',
  'FillRule',
  'Filters',
  'FreeParameters',
  'FromJsonOptions',
  'Gate',
  'Give',
  'GivenOptions',
  'GivenRecord',
  'HandleContext',
  'HandlerResponse',
  'Har',
  'HarEntry',
  'HarOptions',
  'HarPair',
  'HeldRequest',
  'HookContext',
  'Id',
  'IndexHint',
  'InterceptOptions',
  'Interception',
  'JournalEntry',
  'JsonData',
  'JsonModel',
  'JsonOf',
  'LatencyProfile',
  'Limits',
  'ListChange',
  'ListQuery',
  'ListenOptions',
  'Listener',
  'ListenerOptions',
  'Mark',
  'MarkOption',
  'OpenApiDocument',
  'OpenApiOptions',
  'OpenOption',
  'Overrides',
  'OwnChange',
  'Page',
  'PageQuery',
  'PendingFault',
  'PlanStep',
  'PropertiesIn',
  'PropertiesOf',
  'PropertyName',
  'PublicKey',
  'QueryConditions',
  'QueryInput',
  'QueryValue',
  'RateLimit',
  'RecordBody',
  'RecordOptions',
  'RecordQuery',
  'Recorded',
  'RefusalDetails',
  'RelatedClient',
  'RelationName',
  'RelationPath',
  'RequestEntityManager',
  'RequestLine',
  'RequestMatch',
  'RequestPoint',
  'RequestSummary',
  'ResourceClient',
  'ResourceConfig',
  'ResourceDefinition',
  'ResourceNames',
  'ResourceParameter',
  'RestResponse',
  'Route',
  'RowCounts',
  'ScalarKind',
  'ScalarType',
  'SchemaIssue',
  'Search',
  'SeedData',
  'Selectable',
  'SelfTestCheck',
  'SelfTestFailure',
  'SelfTestOptions',
  'SelfTestReport',
  'SelfTestRequest',
  'Send',
  'SendOptions',
  'ServerOptions',
  'ShownRecord',
  'Snapshot',
  'SortKey',
  'SqlFragment',
  'SqlParameter',
  'StandardSchema',
  'StoredTime',
  'TestControlOptions',
  'ValueIn',
  'VisibleName',
  'Wire',
  'WireAnswer',
  'WireApi',
  'WireAttribute',
  'WireError',
  'WireExpanded',
  'WireList',
  'WireLogIn',
  'WireQuery',
  'WireRequest',
  'WireResource',
  'WithIds',
  'WithKeys',
  'Wrapper',
  'WriteRule',
]

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

const guides = await readFile(join(root, 'docs/testing.md'), 'utf8')
const customising = await readFile(join(root, 'docs/customising.md'), 'utf8')
const mounting = await readFile(join(root, 'docs/mounting.md'), 'utf8')

/** Runs a command with this Node first on the PATH. */
function run(command: string, args: readonly string[], cwd: string): Promise<Ended> {
  return new Promise((end, reject) => {
    const child = spawn(command, args, { cwd, env: userEnvironment(), stdio: ['ignore', 'pipe', 'pipe'] })
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
    child.once('error', reject)
    child.once('close', code => end({ code, stdout, stderr }))
  })
}

async function succeed(command: string, args: readonly string[], cwd: string): Promise<string> {
  const { code, stdout, stderr } = await run(command, args, cwd)
  assert.equal(code, 0, `${command} ${args.join(' ')}\n${stdout}\n${stderr}`)
  return stdout
}

/** Why npm could not reach its registry, if that is what went wrong. */
const UNREACHABLE = /\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ENOTCACHED)\b/

/** The declared exports of the package: of the entry, and what the entry shares with pages. */
async function readDeclared(): Promise<string> {
  const texts = await Promise.all(['index', 'everywhere'].map(name => readFile(join(root, `dist/lib/${name}.d.ts`), 'utf8')))
  return texts.join('')
}

describe('package-lock.json', () => {
  it('knows the packages of every platform, so that npm ci takes it on each', async () => {
    const { packages } = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { readonly optionalDependencies?: Record<string, string> }>
    }
    const wanted = Object.values(packages).flatMap(each => Object.keys(each.optionalDependencies ?? {}))
    assert.deepEqual(
      wanted.filter(name => !Object.hasOwn(packages, `node_modules/${name}`)),
      [],
    )
  })
})

describe('npm ci', () => {
  it('warns of no package that asks for another Node than the one that starts it', async () => {
    const { packages } = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { readonly engines?: { readonly node?: string } }>
    }
    // The package "node" brings the Node that runs the rest, whatever installs it.
    assert.ok(packages['node_modules/node'])
    assert.equal((await succeed('npm', ['config', 'get', 'loglevel'], root)).trim(), 'error')
  })
})

describe('the package', { timeout: TIMEOUT }, () => {
  let folder: string
  let packed: { readonly filename: string; readonly files: readonly { readonly path: string }[]; readonly unpackedSize: number }
  /** Why nothing could be installed, if so. */
  let offline: string | undefined

  before(
    async () => {
      folder = await mkdtemp(join(tmpdir(), 'mikro-rest-package-'))
      // What npm runs before it packs, on what is written once for all specs: the types, the scripts of the command, those for pages.
      const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> }
      assert.deepEqual([scripts['prepack'], scripts['build']], ['npm run build', 'node scripts/build.ts'])
      const bundled = COMMAND === SOURCE_COMMAND ? [] : ['--scripts', join(dirname(COMMAND), '../dist')]
      const made = ['--types', declaredTypes(), '--page', await bundledPage(), ...bundled]
      await succeed(process.execPath, ['scripts/build.ts', ...made], root)
      const output = await succeed('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], root)
      const listed = JSON.parse(output) as Record<string, typeof packed>
      packed = Object.values(listed)[0]!
      await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
      const install = ['install', '--prefer-offline', '--no-audit', '--no-fund', join(folder, packed.filename)]
      const { code, stdout, stderr } = await run('npm', install, folder)
      if (code !== 0) {
        const [reason] = UNREACHABLE.exec(stderr) ?? []
        assert.ok(reason, `npm ${install.join(' ')}\n${stdout}\n${stderr}`)
        offline = `npm cannot reach its registry (${reason})`
      }
    },
    { timeout: TIMEOUT },
  )
  after(() => rm(folder, { recursive: true, force: true }))

  it('holds what is needed to run it, and nothing else', () => {
    const paths = packed.files.map(file => file.path)
    const strays = paths.filter(
      path =>
        !/^(?:package\.json|README\.md|LICENSE|(?:ARCHITECTURE|CHANGELOG|CONTRIBUTING|SECURITY)\.md|docs\/decisions\/[\w-]+\.md|bin\/(?:serve|quick-start)\.js|dist\/packed\/kysely-[\d.]+\.js|dist\/browser\/(?:[\w-]+\.js|sqlite3\.wasm|licenses\.txt)|dist\/workbench\/(?:[\w-]+\.(?:js|css)|licenses\.txt)|docs\/(?:[\w-]+\.md|plots\/[\w-]+\.svg|pictures\/[\w-]+\.webp)|dist\/lib\/[\w/-]+\.(?:js|d\.ts))$/.test(
          path,
        ),
    )
    assert.deepEqual(strays, [])
    for (const path of [
      'README.md',
      'LICENSE',
      'CHANGELOG.md',
      'bin/serve.js',
      'bin/quick-start.js',
      'dist/lib/index.js',
      'dist/browser/index.js',
      'dist/browser/licenses.txt',
      'dist/browser/sqlite3.wasm',
      'dist/workbench/licenses.txt',
      'dist/lib/index.d.ts',
    ]) {
      assert.ok(paths.includes(path), path)
    }
    // On 29 November 2026 it has 4,431,000 bytes: PostgreSQL takes 165,000 of them, evolving 250,000, watching 90,000, the workbench
    // 155,000, the docs 636,000, their pictures 300,000. The files for pages came then, with 1,270,000, and their types; SQLite for
    // pages has 841,000.
    assert.ok(packed.unpackedSize < 6_800_000, `${packed.unpackedSize} bytes`)
  })

  it('declares the packages that it imports, so that pnpm and Yarn find each', async () => {
    const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as Record<
      'bin' | 'dependencies' | 'peerDependencies' | 'peerDependenciesMeta',
      Record<string, string>
    > & { readonly exports: Record<string, string | { readonly default: string }> }
    const exported = Object.values(manifest.exports).map(target => (typeof target === 'string' ? target : target.default))
    const { metafile } = await build({
      absWorkingDir: root,
      entryPoints: [...exported, ...Object.values(manifest.bin)].filter(file => file.endsWith('.js')),
      outdir: folder,
      write: false,
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'node',
      packages: 'external',
      metafile: true,
      logLevel: 'error',
    })
    const imported = Object.values(metafile.inputs).flatMap(({ imports }) =>
      imports.filter(({ external }) => external).map(({ path }) => path),
    )
    for (const { path } of packed.files.filter(file => file.path.endsWith('.d.ts'))) {
      const text = await readFile(join(root, path), 'utf8')
      imported.push(
        ...[...text.matchAll(/^(?:import|export) .* from '([^.'][^']*)'|\bimport\('([^.'][^']*)'\)/gm)].map(([, from, by]) => from ?? by!),
      )
    }
    const names = new Set(
      imported.filter(name => /^[@\w]/.test(name) && !name.startsWith('node:')).map(name => /^(?:@[^/]+\/)?[^/]+/.exec(name)![0]),
    )
    const { dependencies, peerDependencies, peerDependenciesMeta } = manifest
    assert.ok(names.has('@mikro-orm/sql') && names.has('vitest') && names.has('@playwright/test'), [...names].join(' '))
    assert.deepEqual(
      [...names].filter(name => ![dependencies, peerDependencies, peerDependenciesMeta].some(known => Object.hasOwn(known, name))),
      [],
    )
  })

  it('has no dead link', async () => {
    const paths = packed.files.map(file => file.path)
    const dead: string[] = []
    for (const path of paths.filter(name => name.endsWith('.md'))) {
      const text = (await readFile(join(root, path), 'utf8')).replaceAll(/^```[^]*?^```/gm, '')
      for (const [, link = ''] of text.matchAll(/(?:\]\(|src(?:set)?=")([^)\s"#]+)/g)) {
        const target = join(dirname(path), link)
        const isThere = paths.some(each => each === target || each.startsWith(target.replace(/\/?$/, '/')))
        if (!/^[a-z]+:/.test(link) && !isThere) dead.push(`${path}: ${link}`)
      }
    }
    assert.deepEqual(dead, [])
  })

  it('has stacks that name its own files, also where Node and test runners follow source maps', async () => {
    const script = `import { RestEngine } from ${JSON.stringify(join(root, 'dist/lib/index.js'))}
      RestEngine.create({}).catch(error => console.log(error.stack))`
    const stack = await succeed(process.execPath, ['--enable-source-maps', '--input-type=module', '--eval', script], root)
    const named = [...stack.matchAll(/file:\/\/(\S+?):\d+:\d+/g)].map(([, file = '']) => relative(root, file).replaceAll('\\', '/'))
    assert.ok(named.length > 1, stack)
    const paths = packed.files.map(file => file.path)
    assert.deepEqual(
      named.filter(file => !paths.includes(file)),
      [],
    )
  })

  it('exports what it always has', async () => {
    const types = await readDeclared()
    const values: string[] = []
    const onlyTypes: string[] = []
    for (const [, type, names = ''] of types.matchAll(/^export (type )?\{([^}]*)\}/gm)) {
      ;(type === undefined ? values : onlyTypes).push(
        ...names
          .split(',')
          .map(name => name.trim())
          .filter(name => name !== ''),
      )
    }
    assert.deepEqual(values.toSorted(), VALUES)
    assert.deepEqual(onlyTypes.toSorted(), TYPES)
    const loaded = (await import(join(root, 'dist/lib/index.js'))) as object
    assert.deepEqual(Object.keys(loaded).toSorted(), VALUES)
  })

  it('has no member that is for the package itself, neither on the engine nor on what stands for it', async () => {
    const declared = await readFile(join(root, 'dist/lib/engine.d.ts'), 'utf8')
    const members = [...declared.matchAll(/^ {4}(?:static |readonly |get )?(\w+)[(:<]/gm)].map(([, name = '']) => name)
    const documented = namesBelow(await readFile(join(root, 'docs/reference-engine.md'), 'utf8'), 'Engine members')
    const known = ['create', 'constructor', ...documented]
    assert.deepEqual(
      members.filter(name => !known.includes(name)),
      [],
    )
    for (const name of documented) assert.ok(members.includes(name), name)
    for (const file of packed.files.filter(({ path }) => path.endsWith('.d.ts')))
      assert.doesNotMatch(await readFile(join(root, file.path), 'utf8'), /@internal/, file.path)
  })

  it('documents everything that it exports', async () => {
    const types = await readDeclared()
    const missing: string[] = []
    for (const [, names = '', file = ''] of types.matchAll(/^export (?:type )?\{([^}]*)\} from '(.+?)\.js'/gm)) {
      const text = await readFile(join(root, 'dist/lib', `${file}.d.ts`), 'utf8')
      for (const name of names
        .split(',')
        .map(one => one.trim())
        .filter(one => one !== '')) {
        const declared = new RegExp(
          `(\\*/\\s*)?^export (?:declare )?(?:abstract )?(?:class|function|const|interface|type) ${name}\\b`,
          'm',
        ).exec(text)
        assert.ok(declared, `${name} is not declared in ${file}.d.ts`)
        if (declared[1] === undefined) missing.push(name)
      }
    }
    assert.deepEqual(missing, [])
  })

  it('loads no more than what a first answer needs', async () => {
    const script = `import { registerHooks } from 'node:module'
      const urls = []
      registerHooks({ resolve: (specifier, context, next) => { const found = next(specifier, context); urls.push(found.url); return found } })
      const loaded = () => ({ own: new Set(urls.filter(url => url.includes('/dist/lib/'))).size, kysely: urls.some(url => url.includes('/node_modules/kysely/')) })
      const { defineEntity, p } = await import('@mikro-orm/core')
      const { RestEngine } = await import(${JSON.stringify(join(root, 'dist/lib/index.js'))})
      const imported = loaded()
      const User = defineEntity({ name: 'User', properties: { id: p.integer().primary() } })
      await using engine = await RestEngine.create({ entities: [User] })
      await engine.handle('GET', '/v1/users')
      const builtins = ['http', 'https', 'crypto', 'net', 'assert'].filter(name => process.moduleLoadList.includes('NativeModule ' + name))
      console.log(JSON.stringify({ imported, answered: loaded(), builtins }))`
    const output = await succeed(process.execPath, ['--input-type=module', '--eval', script], root)
    const { imported, answered, builtins } = JSON.parse(output) as Record<'imported' | 'answered', { own: number; kysely: boolean }> & {
      builtins: string[]
    }
    assert.deepEqual(builtins, [])
    assert.equal(imported.kysely, false)
    assert.ok(imported.own <= 8, `${imported.own} files of the package are loaded by importing it`)
    assert.ok(answered.own <= 12, `${answered.own} files of the package are loaded by a first answer`)
  })

  it('answers a request where CommonJS requires it, where a module imports it, and in a test that is bundled, with packages outside', async t => {
    if (offline !== undefined) return t.skip(offline)
    await writeFile(
      join(folder, 'use.js'),
      `import { defineEntity, p } from '@mikro-orm/core'
      import { RestEngine } from 'mikro-rest'
      const User = defineEntity({ name: 'User', properties: { id: p.integer().primary(), name: p.string() } })
      const engine = await RestEngine.create({ entities: [User], seed: { users: [{ name: 'Ann' }, { name: 'Bob' }] } })
      const { status, body } = await engine.handle('GET', '/v1/users', { name: 'A*' })
      console.log(JSON.stringify({ status, users: body.users }))
      await engine.close()`,
    )
    // It is required first, in one process for all three: what is loaded already could always be required.
    await writeFile(
      join(folder, 'use.cjs'),
      `const { defineEntity, p } = require('@mikro-orm/core')
      const { RestEngine } = require('mikro-rest')
      const User = defineEntity({ name: 'User', properties: { id: p.integer().primary(), name: p.string() } })
      async function main() {
        const engine = await RestEngine.create({ entities: [User], seed: { users: [{ name: 'Ann' }] } })
        const { fetch } = engine
        console.log((await (await fetch('/v1/users')).json()).count)
        await engine.close()
      }
      main().then(() => import('./use.js')).then(() => import('./bundled.mjs'))`,
    )
    assert.match(guides, /--bundle --platform=node --format=esm --packages=external/)
    const options = ['--bundle', '--platform=node', '--format=esm', '--packages=external', '--log-level=error', '--outfile=bundled.mjs']
    await succeed(join(root, 'node_modules/.bin/esbuild'), ['use.js', ...options], folder)
    const printed = (await succeed(process.execPath, ['use.cjs'], folder)).trim().split('\n')
    const answer = { status: 200, users: [{ id: 1, name: 'Ann' }] }
    assert.deepEqual(
      printed.map(line => JSON.parse(line) as unknown),
      [1, answer, answer],
    )
  })

  it('has types that a strict compiler accepts, and one for ES2022', async t => {
    if (offline !== undefined) return t.skip(offline)
    await mkdir(join(folder, 'es2022'))
    await writeFile(
      join(folder, 'es2022/use.ts'),
      `import { RestEngine, resource } from 'mikro-rest'
      import type { Gate } from 'mikro-rest'
      class User { id!: number; name!: string }
      const trimmed = resource(User, { create: (ctx, next) => { ctx.data.name = String(ctx.data.name).trim(); return next() } })
      export async function main(): Promise<Gate> {
        const engine = await RestEngine.create({ entities: [User], resources: [trimmed] })
        const answer: Response = await engine.fetch('/v1/users', { method: 'GET' })
        console.log(answer.status, (await engine.handle('GET', '/v1/users')).body.users[0].name)
        return engine.hold('*')
      }`,
    )
    await writeFile(
      join(folder, 'use.ts'),
      `import { defineEntity, p } from '@mikro-orm/core'
      import { RestEngine, RestError, client, createServer, ERRORS } from 'mikro-rest'
      import { client as browserClient } from 'mikro-rest/client'
      import type { EngineOptions, ErrorCode, RestResponse } from 'mikro-rest'

      interface UserRecord { name: string }
      const users: UserRecord[] = [{ name: 'Ann' }]
      const User = defineEntity({ name: 'User', properties: { id: p.integer().primary(), name: p.string() } })
      const options: EngineOptions = { entities: [User], limits: { maxLimit: 10 }, seed: { users }, onError: error => console.error(error) }
      await using engine = await RestEngine.create(options)
      const response: RestResponse = await engine.handle('GET', '/v1/users', { 'id>=': 1, name: ['A*', 'B*'], limit: 5 })
      const status: number = response.status
      const code: ErrorCode = 'record_not_found'
      createServer(engine, { cors: true }).listen(0).close()
      const answer: Response = await engine.fetch(new Request('http://api.test/v1/users'))
      const found = await engine.orm.em.fork().findOneOrFail(User, { name: 'Ann' })
      const name: string = found.name
      using api = engine.intercept(['https://api.test', new URL('https://b.test')], { strict: true })
      await fetch(api.origins[0]!, { dispatcher: api.dispatcher })
      console.log(status, ERRORS[code].status, answer.status, name, new RestError(403, 'not_yours', 'No.').code)
      const typed = client(engine, { users: User })
      const { items } = await typed.users.list({ 'id>=': 1, sort: 'name.desc' })
      const first: string = items[0]!.name
      console.log(first, (await browserClient<{ users: typeof User }>('http://api.test').users.get(1)).id)
      // @ts-expect-error -- there is no such filter
      await typed.users.list({ nme: 'Ann' })
      // @ts-expect-error -- there is no such option
      await RestEngine.create({ entities: [User], databse: 'x' })
      `,
    )
    const common = {
      module: 'nodenext',
      strict: true,
      // Ours are checked too; those of MikroORM 7.2 would not stand exactOptionalPropertyTypes beside it.
      skipLibCheck: false,
      noEmit: true,
      typeRoots: [join(root, 'node_modules/@types')],
      types: ['node'],
    }
    await writeFile(join(folder, 'app.ts'), APP)
    const newest = { ...common, target: 'es2024', lib: ['es2024', 'esnext.disposable'], noUncheckedIndexedAccess: true }
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: newest, files: ['use.ts', 'app.ts'] }))
    const older = { ...common, target: 'es2022', lib: ['es2022'] }
    await writeFile(join(folder, 'es2022/tsconfig.json'), JSON.stringify({ compilerOptions: older, files: ['use.ts'] }))
    await succeed(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-b', folder, join(folder, 'es2022')], folder)
  })

  it('brings the command', async t => {
    if (offline !== undefined) return t.skip(offline)
    // What `npx mikro-rest` starts.
    const output = await succeed(join(folder, 'node_modules/.bin/mikro-rest'), ['--get', '/v1/publishers?limit=1'], folder)
    const body = JSON.parse(output) as { success: boolean; publishers: unknown[] }
    assert.equal(body.success, true)
    assert.equal(body.publishers.length, 1)
  })

  it('serves a model of the folder that it is installed in, and says what to write where one in TypeScript is taken for CommonJS', async t => {
    if (offline !== undefined) return t.skip(offline)
    const model = `import { defineEntity, p } from '@mikro-orm/core'
      export const Book: object = defineEntity({ name: 'Book', properties: { id: p.integer().primary(), title: p.string() } })`
    for (const name of ['model', 'common', 'typed']) await mkdir(join(folder, name))
    await writeFile(join(folder, 'common/package.json'), '{ "type": "commonjs" }')
    const options = { experimentalDecorators: true, emitDecoratorMetadata: true }
    await writeFile(join(folder, 'typed/tsconfig.json'), JSON.stringify({ compilerOptions: options }))
    const files = ['model/entities.ts', 'common/model.mts', 'common/model.ts', 'model/enum.mts', 'typed/model.mts']
    for (const file of files.slice(0, 3)) await writeFile(join(folder, file), model)
    await writeFile(join(folder, 'model/enum.mts'), 'export enum Genre { Novel }')
    await writeFile(join(folder, 'typed/model.mts'), '@Entity()\nexport class Book {}')
    // In one process, which loads MikroORM once.
    const main = pathToFileURL(join(folder, 'node_modules/mikro-rest/dist/lib/doors/cli/main.js')).href
    const lines = JSON.stringify(files.map(file => [file, '--get', '/v1/books']))
    const output = await succeed(process.execPath, [join(root, 'spec/helpers/command-lines.ts'), main, lines], folder)
    const [served, named, refused, ...unread] = JSON.parse(output) as [Ended, Ended, Ended, Ended, Ended]
    for (const { stdout } of [served, named]) assert.equal((JSON.parse(stdout) as { count: number }).count, 0)
    assert.deepEqual([served.code, named.code, refused.code], [0, 0, 1])
    assert.match(
      refused.stderr,
      /model\.ts cannot be loaded: .*outside a module \(\S+model\.ts:1\)\. \S+ says "type": "commonjs": write "module" there, or call the file \.mjs or \.mts\. .*: npm install --save-dev tsx in the project\.$/m,
    )
    // Node reads neither an enum nor a decorator.
    for (const [index, loader] of ['tsx', '@oxc-node/core'].entries())
      assert.match(unread[index]!.stderr, new RegExp(`cannot be loaded: .* npm install --save-dev ${loader} in the project\\.$`, 'm'))
  })

  testOrmVersions({
    root,
    run,
    offline: () => offline,
    installed: () => folder,
    tarball: () => join(folder, packed.filename),
    range: async () => {
      const { peerDependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
        peerDependencies: Record<string, string>
      }
      assert.equal(peerDependencies['@mikro-orm/core'], peerDependencies['@mikro-orm/sqlite'])
      return peerDependencies['@mikro-orm/core']!
    },
  })

  describeGuides(guides, root, () => ({ folder, offline }))
  describeSample(customising, root, () => ({ folder, offline }))
  describeApps(mounting, root, () => ({ folder, offline }))
  describeRuntimes(() => join(folder, packed.filename))
})
