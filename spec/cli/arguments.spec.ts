/** The command line: names and letters of options, and the text of `--help`. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { formatHelp, parseArguments } from '../../lib/doors/cli/arguments.ts'

describe('the options of the command', () => {
  it('are listed in groups, each once, in lines of at most 100 characters', () => {
    const lines = formatHelp().split('\n')
    assert.deepEqual(
      lines.filter(line => line.length > 100),
      [],
    )
    const listed = lines.flatMap(line => /^ {2}(?:-\w, )?--([\w-]+)/.exec(line)?.[1] ?? [])
    assert.equal(new Set(listed).size, listed.length)
    for (const name of listed) {
      const value = { port: '1', delay: '1' }[name] ?? '/x'
      try {
        parseArguments([`--${name}`, value])
      } catch (error) {
        assert.doesNotMatch((error as Error).message, /Unknown option/)
      }
    }
    assert.throws(() => parseArguments(['--hlep']), /Did you mean "--help"/)
  })

  it('have the letters that others have', () => {
    assert.equal(parseArguments(['-h']).help, true)
    assert.equal(parseArguments(['-p', '8080']).port, 8080)
    assert.equal(parseArguments(['-p8080']).port, 8080)
    assert.equal(parseArguments(['-v']).showsVersion, true)
  })

  it('say of a name that is gone what stands in its place', () => {
    for (const [given, meant] of [
      ['--test-controls', '--workbench'],
      ['--no-workbench', '--workbench=off'],
      ['--postgres', 'mikro-rest pglite:DIR --config MODULE'],
    ] as const)
      assert.throws(() => parseArguments([given]), { message: `Unknown option ${given}. Did you mean "${meant}"? See --help.` })
  })

  it('turn the workbench on, and off', () => {
    assert.equal(parseArguments([]).workbench, undefined)
    assert.equal(parseArguments(['--workbench']).workbench, true)
    assert.equal(parseArguments(['--workbench=off']).workbench, false)
    assert.throws(() => parseArguments(['--workbench=on']), /--workbench takes no value but "off", got "on"\./)
  })

  it('tell the version of the program from that of paths', () => {
    const asked = parseArguments(['--version'])
    assert.deepEqual([asked.showsVersion, asked.versions], [true, undefined])
    const paths = parseArguments(['--api-version', 'v2', '--api-version', 'v3'])
    assert.deepEqual([paths.showsVersion, paths.versions], [false, ['v2', 'v3']])
    for (const args of [
      ['--version', 'v2', 'blog.json'],
      ['blog.json', '--version=v2'],
      ['-v', 'v2'],
    ])
      assert.throws(() => parseArguments(args), /takes no value, got "v2"\. Did you mean "--api-version v2"\?/)
    assert.throws(() => parseArguments(['--no-version', '--api-version', 'v1']), /does not go with --api-version/)
  })
})
