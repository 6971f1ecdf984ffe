/**
 * The specs of the API, of log-in, of kinds of models, of properties, of the test kit and of the journal hold for an engine in a page of
 * Chromium, as for an engine on Node. Properties have three runs there: they look for what differs from Node, and Node has looked for the
 * rest.
 */
import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { NO_BROWSER } from '../helpers/chromium.ts'
import { openSpecs, type OpenedSpecs } from './open-specs.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

const FOLDERS = 'spec/{api,auth,kinds,property,testing,journal}/**/*.spec.ts'

const ON_FILES = 'are about files, which a page has not'

/** Files that a page cannot run, each with the reason. */
const FILES_NOT_IN_PAGE: Readonly<Record<string, string>> = {
  'spec/kinds/everything.spec.ts': ON_FILES,
  'spec/kinds/matrix.spec.ts': 'reads the docs, and knows other specs by their text',
  'spec/kinds/read-from-source.spec.ts': 'reads the types of entities from files',
  'spec/property/evolve.spec.ts': ON_FILES,
  'spec/property/existing-files.spec.ts': ON_FILES,
  'spec/property/json-files.spec.ts': ON_FILES,
  'spec/property/planned-files.spec.ts': ON_FILES,
  'spec/property/stored-forms.spec.ts': ON_FILES,
  'spec/property/unchanged.spec.ts': ON_FILES,
  'spec/property/write-rules.spec.ts': 'counts what many runs meet',
  'spec/testing/given/readable.spec.ts': 'runs processes',
}

const NO_SURROUNDINGS = 'behind a wait of code that is not of the library nothing shows the transaction of a request'

const COOKIES = 'a browser shows scripts no Set-Cookie of an answer, and takes no Cookie of a request from them'
const READS_SCHEMA = 'checks the document by a library that reads files'

/**
 * Tests that a page cannot pass, by a part of their titles, each with the reason. Stand-ins leave out, too, what starts a server, opens a
 * file, makes a MikroORM of its own, or calls files of lib/ that need Node.
 */
const NOT_IN_PAGE: Readonly<Record<string, string>> = {
  'a hook that calls the engine [': NO_SURROUNDINGS,
  'also when a hook makes a request inside another': NO_SURROUNDINGS,
  'are none for an inner request whose outer one is rolled back': NO_SURROUNDINGS,
  'in a transaction that the caller has opened with MikroORM': NO_SURROUNDINGS,
  'told of a request inside a transaction of the test': NO_SURROUNDINGS,
  'not those of a rolled back transaction, nor are they lost': NO_SURROUNDINGS,
  'works inside a transaction of the caller': NO_SURROUNDINGS,
  'a signal [file]': 'a page has no files',
  'requests that are aborted, without a status': 'Chromium has a sentence of its own for a signal without a reason',
  'the option cookie > says where the cookie goes': COOKIES,
  'the option cookie > is for https alone': COOKIES,
  'the option cookie > takes a page that came without https': COOKIES,
  'the option cookie > takes the URL of a Request': COOKIES,
  'refresh tokens in cookies > go to their path alone': COOKIES,
  'the option cookie > stands in the OpenAPI document': READS_SCHEMA,
  'paths of the log-in > stand in the OpenAPI document': READS_SCHEMA,
  'a well-signed token that lacks claims': 'signs by a function of Node',
  'finds all of the two-letter codes': 'takes four seconds of a processor',
}

const MOST_LEFT_OUT = 205

/** Of each property. */
const RUNS = 3

const files = globSync(FOLDERS, { cwd: root })
  .filter(file => !(file in FILES_NOT_IN_PAGE))
  .toSorted()

describe('the specs in a page', { skip: process.env['SPEC_BROWSER'] === undefined && NO_BROWSER }, () => {
  let opened: OpenedSpecs
  const counts = { passed: 0, skipped: 0 }
  before(
    async () => {
      opened = await openSpecs(files)
    },
    { timeout: 120_000 },
  )
  after(() => opened?.close())

  for (const file of files)
    it(`${file} passes`, { timeout: 120_000 }, async () => {
      const { passed, skipped, failures } = await opened.run(
        file,
        Object.keys(NOT_IN_PAGE),
        file.startsWith('spec/property/') ? RUNS : undefined,
      )
      assert.deepEqual(failures, [])
      assert.ok(passed + skipped > 0)
      counts.passed += passed
      counts.skipped += skipped
    })

  it('leave out no more than is known', () => {
    console.log(`# in a page: ${counts.passed} tests passed, ${counts.skipped} were left out`)
    assert.ok(counts.passed > 2500 && counts.skipped <= MOST_LEFT_OUT, JSON.stringify(counts))
  })
})
