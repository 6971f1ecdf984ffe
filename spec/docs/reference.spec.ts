/** The documentation against the code, both ways: what exists is documented, and what is documented exists. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { defineEntity, p } from '@mikro-orm/core'
import { formatHelp } from '../../lib/doors/cli/arguments.ts'
import { Clock } from '../../lib/foundation/async/clock.ts'
import { ERRORS, FIELD_ERRORS, RestEngine } from '../../lib/index.ts'
import { DEFAULT_LIMITS, HTTP_TIMEOUT } from '../../lib/foundation/base/limits.ts'
import { DIFFERENCES } from '../../lib/checks/drift/report.ts'
import { CHECKS } from '../../lib/checks/self-test/report.ts'
import { OPERATORS } from '../../lib/records/request/operators.ts'
import { RESERVED } from '../../lib/records/request/reserved-parameters.ts'
import { anchors, entriesBelow, firstCells, localLinks, namesBelow, tableBelow } from '../helpers/markdown.ts'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..')
const read = (file: string): string => readFileSync(join(root, file), 'utf8')
/** The contents, and the pages that they lead to, as one text. */
const contents = read('docs/reference.md')
const pages = ['requests', 'model', 'engine', 'servers'].map(name => `reference-${name}.md`)
const reference = pages.map(page => read(`docs/${page}`)).join('\n')
const readme = read('README.md')
const api = read('docs/api.md')

const sources = readdirSync(join(root, 'lib'), { recursive: true, encoding: 'utf8' })
  .filter(file => file.endsWith('.ts'))
  .map(file => file.replaceAll('\\', '/'))

/** The members of an interface, from its source: types are gone when a spec runs. */
function membersOf(name: string): string[] {
  for (const file of sources) {
    const body = new RegExp(`^export interface ${name}(?:<[^{\\n]*>)?(?: extends [^{\\n]+)? \\{\\n(.*?)^\\}`, 'ms').exec(
      read(`lib/${file}`),
    )?.[1]
    if (body !== undefined) return [...body.matchAll(/^ {2}(?:readonly )?(\w+)\??[:(<]/gm)].map(([, member = '']) => member)
  }
  throw new Error(`There is no interface ${name}.`)
}

function methodsOf(prototype: object): string[] {
  return Object.getOwnPropertyNames(prototype).filter(name => name !== 'constructor')
}

function sameNames(documented: readonly string[], existing: readonly string[]): void {
  assert.deepEqual(documented.toSorted(), existing.toSorted())
}

/** The sources by their name, without comments. */
function* codeOfSources(): Generator<[file: string, code: string]> {
  for (const file of sources) yield [file, read(`lib/${file}`).replaceAll(/^\s*(?:\/?\*|\/\/).*$/gm, '')]
}

function uncapitalised(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}

describe('docs/reference.md', () => {
  it('has every section in its table of contents', () => {
    for (const page of pages)
      for (const anchor of anchors(read(`docs/${page}`)).slice(1)) assert.ok(contents.includes(`](${page}#${anchor})`), anchor)
  })

  it('calls a string a string', () => {
    assert.doesNotMatch(reference.replaceAll(/\s+/g, ' '), /\btexts\b|\ba text\b(?! (?:column|file))/i)
  })

  it('lists the error codes with their status and title', () => {
    const existing = Object.entries(ERRORS).map(([code, { status, title }]) => [code, String(status), uncapitalised(title)])
    assert.deepEqual(tableBelow(reference, 'Error codes'), existing)
  })

  it('is complete: no refusal has a code or a status of its own', () => {
    // Examples in comments are those of applications, who may choose their codes.
    for (const [file, code] of codeOfSources()) assert.doesNotMatch(code, /new RestError\(\d{3}/, file)
  })

  it('lists no code that no stage uses', () => {
    const used = [...codeOfSources()].filter(([file]) => file !== 'errors/errors.ts').map(([, code]) => code)
    for (const code of [...Object.keys(ERRORS), ...Object.keys(FIELD_ERRORS)])
      assert.ok(
        used.some(text => text.includes(`'${code}'`)),
        code,
      )
  })

  it('lists the codes of faults with their meaning', () => {
    assert.deepEqual(tableBelow(reference, 'Field errors'), Object.entries(FIELD_ERRORS))
  })

  it('names the codes of the errors that code of the application meets', () => {
    const codes = [...codeOfSources()].flatMap(([, code]) => [...code.matchAll(/\bcode: '(ERR_[A-Z_]+)' /g)].map(([, name]) => name!))
    assert.ok(codes.length >= 5, codes.join())
    for (const code of codes) assert.ok(reference.includes(`\`${code}\``), `${code} is not documented`)
  })

  it('lists the limits with their defaults', () => {
    const documented = entriesBelow(reference, 'Limits').map(({ name, standard }) => [name, Number(standard)])
    assert.deepEqual(documented, Object.entries({ ...DEFAULT_LIMITS, timeout: HTTP_TIMEOUT }))
  })

  it('lists the options of the engine and of the server', () => {
    sameNames(namesBelow(reference, 'Engine options'), membersOf('EngineOptions'))
    sameNames(namesBelow(reference, 'Describing'), membersOf('OpenApiOptions'))
    sameNames(namesBelow(reference, 'HTTP server'), membersOf('ServerOptions'))
    sameNames(namesBelow(reference, 'In another app'), membersOf('ListenerOptions'))
  })

  it('lists the options, the kinds and the members of a comparison', () => {
    const page = read('docs/drift.md')
    sameNames(namesBelow(page, 'What is sent'), membersOf('DriftOptions'))
    const report = page.slice(page.indexOf('## The report'))
    const members = [...report.matchAll(/^- \*\*`(\w+)`\*\*/gm)].map(([, name = '']) => name)
    sameNames(members, [...membersOf('DriftReport').filter(name => name !== 'toString'), ...membersOf('Difference')])
    for (const kind of Object.keys(DIFFERENCES)) assert.ok(report.includes(`\`${kind}\``), kind)
  })

  it('lists the checks, the options and the members of a self-test', () => {
    const page = read('docs/self-test.md')
    sameNames(namesBelow(page, 'What it does'), Object.keys(CHECKS))
    sameNames(namesBelow(page, 'Options'), membersOf('SelfTestOptions'))
    const report = page.slice(page.indexOf('## The report'))
    const members = [...report.matchAll(/^- \*\*`(\w+)`\*\*/gm)].map(([, name = '']) => name)
    sameNames(members, [...membersOf('SelfTestReport').filter(name => name !== 'toString'), ...membersOf('SelfTestFailure')])
  })

  it('lists the options of an interception, and its members', () => {
    sameNames(namesBelow(reference, 'Intercepting'), membersOf('InterceptOptions'))
    sameNames(namesBelow(reference, 'Interception'), membersOf('Interception'))
  })

  it('lists the options, rules and members of customisation and authentication', () => {
    sameNames(namesBelow(reference, 'Resource options'), membersOf('ResourceConfig'))
    sameNames(namesBelow(reference, 'Attribute rules'), membersOf('AttributeRules'))
    sameNames(namesBelow(reference, 'Computed attributes'), [...membersOf('ComputedAttribute'), ...membersOf('ComputedGroup')])
    sameNames(namesBelow(reference, 'Context'), membersOf('HookContext'))
    sameNames(namesBelow(reference, 'Authentication options'), membersOf('AuthOptions'))
  })

  it('gives the types of computed attributes and the operators of filter queries', () => {
    const [, union = ''] = /^ {2}readonly type: (.+)$/m.exec(read('lib/model/resource-config.ts')) ?? []
    const types = [...union.matchAll(/'(\w+)'/g)].map(([, type = '']) => type)
    assert.ok(types.length > 5, union)
    const meaning = entriesBelow(reference, 'Computed attributes').find(({ name }) => name === 'type')?.text ?? ''
    for (const type of types) assert.match(meaning, new RegExp(`\\b${type}\\b`))
    const operators = [...read('lib/records/access/orm-filter.ts').matchAll(/(?:case|===) '(\$\w+)'/g)].map(([, operator = '']) => operator)
    for (const operator of new Set(operators)) assert.ok(reference.includes(`\`${operator}\``), operator)
  })

  it('says which options of MikroORM are the engine’s own', async () => {
    const meaning = entriesBelow(reference, 'Engine options').find(({ name }) => name === 'orm')?.text ?? ''
    const [, names = ''] = /; not (.+)$/.exec(meaning) ?? []
    for (const name of names.split(', ')) {
      await assert.rejects(RestEngine.create({ entities: [Book], orm: { [name]: undefined } }), /is set by the engine/, name)
    }
  })

  it('lists the members of an engine and of its clock', async () => {
    await using engine = await RestEngine.create({ entities: [Book] })
    sameNames(namesBelow(reference, 'Engine members'), [...methodsOf(RestEngine.prototype), ...Object.keys(engine)])
    sameNames(namesBelow(reference, 'Clock'), methodsOf(Clock.prototype))
  })

  it('lists the options of faults and the members of gates', () => {
    const options = ['FaultOptions', 'DropOptions', 'FailOptions', 'FailureDetails'].flatMap(membersOf)
    sameNames(namesBelow(reference, 'Making it fail'), options)
    sameNames(namesBelow(reference, 'Gate'), [...membersOf('Gate'), ...membersOf('FaultHandle')])
    const code = entriesBelow(reference, 'Making it fail').find(({ name }) => name === 'code')?.standard ?? ''
    assert.ok(Object.hasOwn(ERRORS, code), code)
  })

  it('lists the reserved parameters and the operators', () => {
    sameNames(namesBelow(reference, 'Query parameters'), RESERVED)
    sameNames(firstCells(reference, 'Filters'), Object.keys(OPERATORS))
  })

  it('lists the options of the command line as --help does', () => {
    const help = [
      ...formatHelp()
        .replaceAll(/\n {24}/g, ' ')
        .matchAll(/^ {2}(?:-\w, )?(--[\w-]+)(?: ([A-Z]+))? {2,}(.+)$/gm),
    ]
    const existing = help.map(([, name = '', value = '', text = '']) => [name, value, /\(default (.+)\)$/.exec(text)?.[1] ?? ''])
    const documented = entriesBelow(reference, 'Command line').map(({ name, type, standard }) => [name, type, standard])
    assert.deepEqual(documented, existing)
  })
})

describe('docs/api.md', () => {
  it('shows every reserved parameter and every operator', () => {
    assert.deepEqual(namesBelow(api, 'Query parameters'), [...RESERVED])
    const shown = firstCells(api, 'Filters').join(' ').split(' ')
    for (const operator of firstCells(reference, 'Filters')) assert.ok(shown.includes(operator), operator)
  })

  it('gives the default limits', () => {
    const limit = entriesBelow(api, 'Query parameters').find(({ name }) => name === 'limit')
    assert.equal(limit?.standard, String(DEFAULT_LIMITS.defaultLimit))
    assert.ok(limit.text.includes(String(DEFAULT_LIMITS.maxLimit)))
  })
})

describe('README.md', () => {
  it('has the two commands that continuous integration and newcomers use', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
    const commands = [...readme.matchAll(/^```sh\n(npm ci && npm (\w+))\n```$/gm)]
    assert.deepEqual(
      commands.map(([, command]) => command),
      ['npm ci && npm start', 'npm ci && npm test'],
    )
    for (const [, , script = ''] of commands) assert.ok(scripts[script], script)
    assert.equal(read('.ci/run').trimEnd().split('\n').at(-1), commands[1]?.[1])
  })

  it('says how to install what a project needs, and on which Node', () => {
    const install = readme.slice(readme.indexOf('\n## Install\n'), readme.indexOf('\n## A server'))
    const { engines, peerDependencies, peerDependenciesMeta } = JSON.parse(read('package.json')) as {
      engines: { node: string }
      peerDependencies: Record<string, string>
      peerDependenciesMeta: Record<string, { optional?: boolean }>
    }
    const needed = Object.keys(peerDependencies).filter(name => peerDependenciesMeta[name]?.optional !== true)
    assert.deepEqual([...new Set(install.match(/@mikro-orm\/[\w-]+/g))].toSorted(), needed.toSorted())
    for (const name of needed) assert.ok(install.includes(`\`${peerDependencies[name]}\``), name)
    const [, node = ''] = /^>=(\d+\.\d+)\.0$/.exec(engines.node) ?? []
    assert.ok(install.includes(`needs Node ${node} or newer`), node)
  })

  it('names the time of all specs, and a quick part of them', () => {
    assert.match(readme, /The\s+second\s+command\s+takes\s+about\s+\w+\s+minutes/)
    assert.match(readme, /`npm run quick`\s+runs/)
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
    assert.ok(scripts['quick'])
  })
})

/** The pages of the folders at the top of lib/. */
const folderPages = readdirSync(join(root, 'lib'), { withFileTypes: true })
  .filter(entry => entry.isDirectory())
  .map(({ name }) => `lib/${name}/README.md`)

/** The files that a page names in backticks. */
function namedFiles(page: string): string[] {
  return [...read(page).matchAll(/`((?:[\w-]+\/)*[\w-]+\.(?:tsx?|md))`/g)].map(([, file = '']) => file)
}

describe('ARCHITECTURE.md and the pages of folders', () => {
  const named = new Set(['ARCHITECTURE.md', 'docs/glossary.md', ...folderPages].flatMap(namedFiles))

  it('names files by their path in lib/ or in the repository, and none that does not exist', () => {
    assert.deepEqual(
      [...named].filter(file => !existsSync(join(root, 'lib', file)) && !existsSync(join(root, file))),
      [],
    )
  })

  it('names what a file of lib/ declares', () => {
    const pairs = [...read('ARCHITECTURE.md').matchAll(/`(\w+)`(?: and `(\w+)`)?\s+(?:in|of)\s+`([\w/-]+\.ts)`/g)]
    assert.ok(pairs.length > 20)
    const missing = pairs.filter(([, one = '', other = one, file = '']) =>
      [one, other].some(
        name => !new RegExp(`\\b(?:const|function\\*?|class|interface|type) ${name}\\b|^ {2}${name}\\(`, 'm').test(read(`lib/${file}`)),
      ),
    )
    assert.deepEqual(
      missing.map(([text]) => text),
      [],
    )
  })
})

describe('links', () => {
  const files = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', ...folderPages]
  for (const folder of ['docs', 'docs/decisions', 'docs/upstream']) {
    for (const file of readdirSync(join(root, folder))) if (file.endsWith('.md')) files.push(`${folder}/${file}`)
  }
  for (const file of files) {
    it(`of ${file} lead somewhere`, () => {
      for (const link of localLinks(read(file))) {
        const [path = '', anchor] = link.split('#')
        const target = path === '' ? file : join(dirname(file), path)
        assert.ok(existsSync(join(root, target)), link)
        if (anchor !== undefined && statSync(join(root, target)).isFile()) assert.ok(anchors(read(target)).includes(anchor), link)
      }
    })
  }
})

const Book = defineEntity({ name: 'Book', properties: { id: p.integer().primary(), title: p.string() } })
