/** Played world: an engine for given data, as `mikro-rest db.json --as json-server` serves them; without data, of the sample model. */
import { RestEngine } from '../lib/engine.ts'
import { findExampleRequests } from '../lib/doors/cli/examples.ts'
import { JsonDocument, listCollections } from '../lib/doors/cli/json-document.ts'
import { readJsonText, type JsonFile } from '../lib/doors/cli/json-file.ts'
import { listPathsOf, loadWire } from '../lib/doors/cli/other-grammar.ts'
import { readRows } from '../lib/doors/cli/read-rows.ts'
import { internalsOf } from '../lib/engine/assembly/internals.ts'
import { LazyClient } from '../lib/foundation/async/abort.ts'
import { buildModel } from '../lib/model/json-model/from-json.ts'
import { checkSize, type GivenData } from './given-data.ts'

export interface PlayedWorld {
  readonly engine: RestEngine
  readonly title: string
  /** Path and query to try, in the grammar of the clients. */
  readonly example: string | undefined
  /** Undefined: the sample. */
  readonly own: OwnData | undefined
}

export interface OwnData {
  readonly as: GivenData['as']
  readonly file: JsonFile
}

/** @throws Error for data that are not JSON, or cannot be served, with the place. */
export async function openWorld(data: GivenData | undefined): Promise<PlayedWorld> {
  if (data === undefined) {
    const { default: sample } = await import('../fixtures/sample/index.ts')
    const engine = await RestEngine.create(sample)
    return { engine, title: 'the sample model, in memory', example: '/v1/publishers?sort=sites.desc&limit=5', own: undefined }
  }
  checkSize(data)
  const { text, as } = data
  const file = readJsonText('db.json', 'db.json', text, { name: 'db', exact: as === 'json-server' })
  const wire = as === undefined ? {} : { wire: await loadWire(as) }
  const engine = await RestEngine.create({ ...buildModel(file.collections), ...wire })
  const { model } = internalsOf(engine)
  const [example] = as === undefined ? await findExampleRequests(lookAt(engine), model, undefined) : listPathsOf(as, model, true)
  return { engine, title: `db.json${as === undefined ? '' : ` as ${as}`}, in memory`, example, own: { as, file } }
}

/** Past the journal, which is for requests of the reader. */
function lookAt(engine: RestEngine): Parameters<typeof findExampleRequests>[0] {
  const { base, versions } = engine
  const client = new LazyClient({ headers: {} }, { isPlain: true })
  return { base, versions, look: path => internalsOf(engine).look(path, client) }
}

/** Writes the present state. Each record that is as before keeps its characters. */
export async function writeData(engine: RestEngine, { text, collections }: JsonFile): Promise<string> {
  const changing = collections.filter(({ isOfValues }) => !isOfValues)
  const found = await readRows(
    engine,
    changing.map(collection => ({ collection, ids: 'all' })),
  )
  const document = new JsonDocument(text, listCollections(collections))
  document.apply(new Map([...found].map(([name, rows]) => [name, { rows, gone: 'others' }])))
  return document.text
}
