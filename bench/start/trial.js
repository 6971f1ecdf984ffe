/**
 * Trial of a start: one contender, in a process of its own. JavaScript, which Node reads without stripping types. Prints a Measure as JSON.
 *
 *     node --expose-gc trial.js engine|mikro-orm few    import, create an API of two entities, and answer once
 *     node --expose-gc trial.js engine few quick        the same, with the quick start, whose time counts
 *     node --expose-gc trial.js engine|mikro-orm many   create one of 300 entities, with all code loaded
 */
const [contender, size, quick] = process.argv.slice(2)

/** What has passed since the last call, and since the process was started at the first one. */
function makeWatch() {
  let last = { milliseconds: performance.now(), processor: process.cpuUsage() }
  return () => {
    const { milliseconds, processor } = last
    const spent = process.cpuUsage(processor)
    last = { milliseconds: performance.now(), processor: process.cpuUsage() }
    return { milliseconds: last.milliseconds - milliseconds, processor: (spent.user + spent.system) / 1000 }
  }
}

const CONTENDERS = {
  engine: {
    load: async () => {
      const { RestEngine } = await import('mikro-rest')
      const { defineEntity, p } = await import('@mikro-orm/core')
      return { RestEngine, defineEntity, p }
    },
    create: ({ RestEngine }, entities) => RestEngine.create({ entities }),
    answer: async engine => (await engine.handle('GET', '/v1/authors')).body.authors,
  },
  'mikro-orm': {
    load: () => import('@mikro-orm/sqlite'),
    create: async ({ MikroORM }, entities) => {
      const orm = await MikroORM.init({ entities, dbName: ':memory:' })
      await orm.schema.create()
      return orm
    },
    answer: (orm, Author) => orm.em.fork().find(Author, {}, { limit: 100, orderBy: { id: 'asc' } }),
  },
}

function defineFew({ defineEntity, p }) {
  const Author = defineEntity({
    name: 'Author',
    properties: { id: p.integer().primary(), name: p.string().length(60), email: p.string().unique(), born: p.date().nullable() },
  })
  const Book = defineEntity({
    name: 'Book',
    properties: { id: p.integer().primary(), title: p.string(), price: p.double(), author: () => p.manyToOne(Author) },
  })
  return [Author, Book]
}

/** Each with a link to the one before. */
function defineMany({ defineEntity, p }) {
  const made = []
  for (let index = 0; index < 300; index++) {
    const parent = made.at(-1)
    const relation = parent === undefined ? {} : { parent: () => p.manyToOne(parent).nullable() }
    const own = { id: p.integer().primary(), name: p.string().length(60), note: p.string().nullable(), number: p.integer().nullable() }
    made.push(defineEntity({ name: `Thing${index}`, properties: { ...own, ...relation } }))
  }
  return made
}

const { load, create, answer } = CONTENDERS[contender]
const watch = makeWatch()
if (quick !== undefined) await import('mikro-rest/quick-start')
const modules = await load()
if (size === 'many') await (await create(modules, defineFew(modules))).close()
const imported = watch()
const entities = size === 'many' ? defineMany(modules) : defineFew(modules)
const made = await create(modules, entities)
const created = watch()
if (size === 'few') {
  const records = await answer(made, entities[0])
  if (!Array.isArray(records) || records.length > 0)
    throw new Error(`${contender} answers ${JSON.stringify(records)} and not an empty list.`)
}
const answered = watch()
for (let sweep = 0; sweep < 3; sweep++) globalThis.gc()
console.log(JSON.stringify({ imported, created, answered, resident: process.memoryUsage.rss() }))
await made.close()
