/**
 * Which loader of a project the command takes for TypeScript whose decorators have types: by the tsconfig.json, the module system and what
 * is installed. The loaders here have the exports of the real ones, and note that they were taken; with SPEC_LOADERS=1 the real ones are
 * installed (70 MB), and the command serves a model with decorators through each.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { ROOT, runAll } from '../helpers/command.ts'

/** Compiles a model without decorators' types, as far as the specs need it. */
const COMPILE = `
  const { readFileSync } = process.getBuiltinModule('node:fs')
  const { stripTypeScriptTypes, registerHooks } = process.getBuiltinModule('node:module')
  const compile = text => stripTypeScriptTypes(text.replace(/@\\w+ /g, ''))
`
/** Compiles what is required. What an earlier loader has put there runs first. */
const hookRequire = (taken: string): string => `${COMPILE}
  globalThis.taken.push(${taken})
  const before = require.extensions['.ts']
  require.extensions['.ts'] = (module, file) => {
    if (before?.isOfLoader) before(module, file)
    module._compile(compile(readFileSync(file, 'utf8').replace('export ', '')), file)
  }
  require.extensions['.ts'].isOfLoader = true
`
/** Registers, and fails at each file. */
const LATE = `
  globalThis.taken.push('late')
  require.extensions['.ts'] = () => { throw new Error("TSError: Option 'moduleResolution=node10' is deprecated") }
  require.extensions['.ts'].isOfLoader = true
`
const LATE_IMPORT = `
  globalThis.taken.push('late')
  process.getBuiltinModule('node:module').registerHooks({
    load(url, context, next) {
      if (url.endsWith('.ts')) throw new Error('Unknown option "decoratorMetadata"')
      return next(url, context)
    },
  })
`
const hookImport = (taken: string): string => `${COMPILE}
  globalThis.taken.push('${taken}')
  registerHooks({
    load: (url, context, next) => url.endsWith('.ts')
      ? { format: readFileSync(new URL('package.json', url), 'utf8').includes('"module"') ? 'module' : 'commonjs',
          source: compile(readFileSync(new URL(url), 'utf8')), shortCircuit: true }
      : next(url, context),
  })
`
/** What the loaders note, and the file that each of their exports is. */
const LOADERS: Readonly<Record<string, { readonly exports: object; readonly files: Readonly<Record<string, string>> }>> = {
  'ts-node': {
    exports: { './register/transpile-only': './hook.js' },
    files: { 'hook.js': hookRequire("'ts-node ' + JSON.parse(process.env.TS_NODE_COMPILER_OPTIONS).module") },
  },
  '@swc-node/register': {
    exports: { './register': { require: './hook.js' }, './esm-register': { import: './hook.mjs' }, '.': { node: './hook.js' } },
    files: { 'hook.js': hookRequire("'swc require'"), 'hook.mjs': hookImport('swc import') },
  },
  '@oxc-node/core': {
    exports: { './register': { import: './hook.mjs' } },
    files: { 'hook.mjs': hookImport('oxc') },
  },
}
const BROKEN = `throw new Error('Cannot find native binding.')`
const WITH_TYPES = '"experimentalDecorators": true, "emitDecoratorMetadata": true'

interface Project {
  readonly type?: 'module'
  readonly tsconfig: string
  readonly others?: Readonly<Record<string, string>>
  readonly installed: readonly string[]
  readonly broken?: readonly string[]
  /** Those that register, and then fail at each file. */
  readonly late?: readonly string[]
  readonly taken: readonly string[]
}

const SHARED = {
  'node_modules/@acme/tsconfig/package.json': '{ "name": "@acme/tsconfig" }',
  'node_modules/@acme/tsconfig/tsconfig.json': `{ "compilerOptions": { ${WITH_TYPES} } }`,
}
const PROJECTS: Readonly<Record<string, Project>> = {
  // As of Next.js: the bundler makes something of the imports, and Node is given what it requires.
  bundled: {
    tsconfig: `{ "compilerOptions": { "module": "esnext", "moduleResolution": "bundler", ${WITH_TYPES} } }`,
    installed: ['ts-node', '@swc-node/register'],
    taken: ['ts-node commonjs'],
  },
  listed: {
    tsconfig: '{ "extends": ["@acme/tsconfig", "./strict"] }',
    others: { ...SHARED, 'strict.json': '{ "compilerOptions": { "strict": true } }' },
    installed: ['@swc-node/register'],
    taken: ['swc require'],
  },
  commented: {
    type: 'module',
    tsconfig: `// Ours.\n{ "compilerOptions": { /* of decorators */ ${WITH_TYPES}, }, }`,
    installed: ['@oxc-node/core', '@swc-node/register'],
    taken: ['oxc'],
  },
  packaged: {
    type: 'module',
    tsconfig: '{ "extends": "@acme/tsconfig" }',
    others: SHARED,
    installed: ['@oxc-node/core', '@swc-node/register'],
    broken: ['@oxc-node/core'],
    taken: ['swc import'],
  },
  referred: {
    tsconfig: '{ "files": [], "references": [{ "path": "./tsconfig.spec.json" }, { "path": "./tsconfig.app.json" }] }',
    others: { 'tsconfig.spec.json': '{}', 'tsconfig.app.json': `{ "compilerOptions": { ${WITH_TYPES} } }` },
    installed: ['ts-node', '@oxc-node/core'],
    broken: ['ts-node'],
    taken: ['oxc'],
  },
  aged: {
    tsconfig: '{ "extends": "@acme/tsconfig" }',
    others: SHARED,
    installed: ['ts-node', '@swc-node/register'],
    late: ['ts-node'],
    taken: ['late', 'swc require'],
  },
  behind: {
    type: 'module',
    tsconfig: '{ "extends": "@acme/tsconfig" }',
    others: SHARED,
    installed: ['@oxc-node/core', '@swc-node/register'],
    late: ['@oxc-node/core'],
    taken: ['late', 'swc import'],
  },
  left: {
    tsconfig: '{ "extends": "@acme/tsconfig" }',
    others: SHARED,
    installed: ['ts-node'],
    late: ['ts-node'],
    taken: ['late'],
  },
  off: {
    tsconfig: `{ "extends": "@acme/tsconfig", "compilerOptions": { "emitDecoratorMetadata": false } }`,
    others: SHARED,
    installed: ['ts-node', '@oxc-node/core'],
    taken: [],
  },
  none: { tsconfig: '{ "extends": "@acme/tsconfig" }', others: SHARED, installed: ['ts-node'], broken: ['ts-node'], taken: [] },
  unread: { tsconfig: '{ "extends": "@acme/none" }', installed: ['ts-node'], taken: [] },
}

function modelOf(name: string, type: string): string {
  if (type === 'module') return `export const name: string = '${name}'`
  return name === 'off'
    ? DECORATED
    : `globalThis.runs = (globalThis.runs ?? 0) + 1; exports.name = '${name}'; exports.runs = globalThis.runs`
}

/** What tsx compiles by the tsconfig.json of the project, though the command runs in a folder above. */
const DECORATED = `
  const keep = (target: { name: string }, key: string): void => { target.name = key }
  class Note { @keep off!: string }
  exports.name = (Note.prototype as unknown as { name: string }).name
`

/** Finds the loader of a project, and prints what was taken and what is advised. */
const SCRIPT = `
  const { findTypeScriptLoader } = await import(${JSON.stringify(pathToFileURL(join(ROOT, 'lib/doors/cli/typescript.ts')).href)})
  const [file] = process.argv.slice(1)
  globalThis.taken = []
  const { load, advice, typesAdvice } = await findTypeScriptLoader(file)
  const loaded = await load(file)
  const { name, runs } = { ...loaded.default, ...loaded }
  console.log(JSON.stringify({ taken, advice, typesAdvice, name, runs }))
`

interface Found {
  readonly taken: readonly string[]
  readonly advice: string
  readonly typesAdvice: string
  readonly name: string
  /** How often the model has run. */
  readonly runs?: number
}

describe('the loader of TypeScript', () => {
  let folder = ''
  let found: Readonly<Record<string, Found>>

  async function write(name: string, text: string): Promise<void> {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'loaders-'))
    for (const [name, { type = 'commonjs', tsconfig, others = {}, installed, broken = [], late = [] }] of Object.entries(PROJECTS)) {
      const files = { ...others, 'package.json': JSON.stringify({ type }), 'tsconfig.json': tsconfig, 'model.ts': modelOf(name, type) }
      for (const [file, text] of Object.entries(files)) await write(`${name}/${file}`, text)
      for (const each of installed) {
        const { exports, files: hooks } = LOADERS[each]!
        await write(`${name}/node_modules/${each}/package.json`, JSON.stringify({ name: each, exports }))
        for (const [file, text] of Object.entries(hooks))
          await write(
            `${name}/node_modules/${each}/${file}`,
            broken.includes(each) ? BROKEN : late.includes(each) ? (file.endsWith('.mjs') ? LATE_IMPORT : LATE) : text,
          )
      }
    }
    const all: Record<string, Found> = {}
    for (const name of Object.keys(PROJECTS)) {
      // Hooks of a loader hold in the whole process.
      const args = ['--input-type=module', '-e', SCRIPT, join(folder, name, 'model.ts')]
      const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
      assert.notEqual(stdout, '', stderr)
      all[name] = JSON.parse(stdout) as Found
    }
    found = all
  })
  after(() => rm(folder, { recursive: true, force: true }))

  for (const [name, { taken }] of Object.entries(PROJECTS)) {
    it(`of a project "${name}" is ${taken.join() || 'tsx'}`, () => {
      assert.deepEqual([found[name]?.taken, found[name]?.name], [taken, name])
      assert.ok((found[name]?.runs ?? 1) === 1, 'the model runs once')
    })
  }

  it('says which package or file is in the way, where no other one could be taken', () => {
    const { commented, none, unread, off, aged, behind, left } = found
    assert.deepEqual([commented?.advice, commented?.typesAdvice, off?.advice], ['', '', ''])
    assert.deepEqual([aged?.typesAdvice, behind?.typesAdvice], ['', ''])
    assert.match(
      none!.typesAdvice,
      /npm install --save-dev @oxc-node\/core .* ts-node is installed, and cannot be used: Cannot find native/,
    )
    assert.match(off!.typesAdvice, /^ \S+off\/tsconfig\.json says "emitDecoratorMetadata": true nowhere\.$/)
    assert.match(left!.advice, /^ ts-node is installed, and cannot be used: TSError: Option 'moduleResolution=node10' is deprecated\.$/)
    assert.match(unread!.advice, /^ \S+unread\/tsconfig\.json cannot be read: .*@acme\/none.*\.$/)
  })

  it('serves a model whose decorators have types, through each real one', { timeout: 600_000 }, async t => {
    if (process.env['SPEC_LOADERS'] !== '1') return t.skip('the loaders are installed with SPEC_LOADERS=1')
    await write('real/package.json', '{}')
    const packages = [
      '@oxc-node/core',
      '@swc-node/register',
      '@swc/core',
      'ts-node',
      'typescript@5.9.3',
      'typescript-6@npm:typescript@6',
      'reflect-metadata',
    ]
    const options = ['--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline']
    const { status, stderr } = spawnSync('npm', ['install', ...options, ...packages], { cwd: join(folder, 'real'), encoding: 'utf8' })
    assert.equal(status, 0, stderr)
    for (const [type, loaders] of [
      ['commonjs', ['ts-node', 'ts-node of typescript-6', '@swc-node/register', '@oxc-node/core']],
      ['module', ['@oxc-node/core', '@swc-node/register']],
    ] as const) {
      for (const way of loaders) {
        const project = `${type}/${way}`
        const [loader = '', compiler = 'typescript'] = way.split(' of ')
        const names = ['@mikro-orm/core', '@mikro-orm/decorators', '@mikro-orm/sqlite', 'reflect-metadata']
        for (const name of [...names, loader]) {
          const link = join(folder, project, 'node_modules', name)
          await mkdir(dirname(link), { recursive: true })
          await symlink(join(names.includes(name) ? ROOT : join(folder, 'real'), 'node_modules', name), link, 'junction')
        }
        if (loader === 'ts-node')
          await symlink(join(folder, 'real/node_modules', compiler), join(folder, project, 'node_modules/typescript'), 'junction')
        await write(`${project}/package.json`, JSON.stringify({ type }))
        const resolution = type === 'module' ? '"module": "nodenext"' : '"module": "esnext", "moduleResolution": "bundler"'
        await write(`${project}/tsconfig.json`, `{ "compilerOptions": { "target": "es2022", ${resolution}, ${WITH_TYPES} } }`)
        const from = type === 'module' ? './note.ts' : './note'
        await write(`${project}/mikro-orm.config.ts`, CONFIG.replace('./note', from))
        await write(`${project}/note.ts`, NOTE)
        const direct = ['mikro-orm.config.ts', '--get', '/v1/notes']
        const ended = runAll(join(folder, project), [direct, [':memory:', '--config', ...direct]])
        for (const { code, stdout, stderr: said } of ended) {
          assert.equal(code, 0, `${project}: ${said}`)
          assert.equal((JSON.parse(stdout) as { count: number }).count, 0, project)
        }
      }
    }
  })
})

const CONFIG = `
  import { ReflectMetadataProvider } from '@mikro-orm/decorators/legacy'
  import { defineConfig } from '@mikro-orm/sqlite'
  import { Note } from './note'
  export default defineConfig({ dbName: ':memory:', entities: [Note], metadataProvider: ReflectMetadataProvider })
`
const NOTE = `
  import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy'
  @Entity()
  export class Note {
    @PrimaryKey() id!: number
    @Property() text!: string
  }
`
