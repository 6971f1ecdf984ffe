/** The names of resources for the compiler are those of the engine: no right name is refused, and of regular words no other is taken. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { defaultNames } from '../../lib/model/resource-names.ts'
import { ROOT } from '../helpers/command.ts'

const require = createRequire(import.meta.url)
const TYPES = '../../../lib/model/client/resource-names.ts'

/** Words whose plural the compiler knows. */
const REGULAR = [
  'user',
  'post',
  'order',
  'category',
  'key',
  'day',
  'invoice',
  'table',
  'country',
  'item',
  'toy',
  'product',
  'page',
  'comment',
  'token',
  'image',
  'cat',
]
/** Words of all kinds: those that the rules of English plurals name, and names of tables. */
const words = [
  ...REGULAR,
  ...[...readFileSync(require.resolve('pluralize'), 'utf8').matchAll(/'([a-z]+)'/g)].map(([, word]) => word!),
  ...(
    'bus status address box company person child man woman human analysis criterion datum index vertex matrix quiz wife leaf ' +
    'half roof proof thief hero photo piano money alley monkey passerby axis crisis medium news series sheep fish tomato virus ' +
    'campus alumnus fungus schema agenda aircraft data media people men settings process class dish watch waltz house mouse louse ' +
    'goose die dice ox japanese hoof elf shelf life knife cow policy boy guy buy survey journey copy city story chef belief gas ' +
    'lens bias canvas atlas kiwi menu taxi bureau plateau colour audio video radio studio portfolio echo veto cargo deer salmon ' +
    'trout moose swine staff feedback software hardware equipment information luggage advice music traffic homework research'
  ).split(' '),
]

function pascal(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

/** Compiles a program, and gives what the compiler says. */
function compile(lines: readonly string[]): string {
  const cache = join(ROOT, 'node_modules/.cache')
  mkdirSync(cache, { recursive: true })
  // Inside the repository, so that packages are found, and outside of its sources.
  const folder = mkdtempSync(join(cache, 'names-'))
  try {
    const program = [
      `import type { ResourceNames } from '${TYPES}'`,
      `interface Named<N extends string> { readonly name: N; readonly '~entity': 1 }`,
      ...lines,
    ]
    writeFileSync(join(folder, 'program.ts'), program.join('\n'))
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ extends: join(ROOT, 'tsconfig.json'), files: ['program.ts'], include: [] }),
    )
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
    return spawnSync(process.execPath, [tsc, '-p', join(folder, 'tsconfig.json')], { encoding: 'utf8' }).stdout
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe('the names of resources for the compiler', { timeout: 120_000 }, () => {
  const names = [
    ...new Set([
      ...words.map(pascal),
      ...words.slice(0, 200).flatMap(word => [`Old${pascal(word)}`, `${pascal(word)}Entry`]),
      'userAccount',
      'ABTest',
      'OAuthToken',
      'HTTPCall',
      'Step2',
      'A',
      'XRay',
      'Blog_entry',
      'Éclair',
    ]),
  ]

  it('are taken, all that the engine takes', () => {
    assert.ok(names.length > 400, String(names.length))
    const lines = names.map(name => `;${JSON.stringify(defaultNames(name).accepted)} satisfies ResourceNames<Named<'${name}'>>[]`)
    assert.equal(compile(lines), '')
  })

  it('are no others, of regular words', () => {
    const lines = REGULAR.flatMap(word => [pascal(word), `New${pascal(word)}`]).map((name, index) => {
      const union = defaultNames(name)
        .accepted.map(each => JSON.stringify(each))
        .join(' | ')
      return `export const is${index}: [ResourceNames<Named<'${name}'>>] extends [${union}] ? true : never = true`
    })
    assert.equal(compile(lines), '')
  })
})
