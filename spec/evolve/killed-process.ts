/** Evolves a database that its argument names, and is killed while it does. It says when it begins, and when it is done. */
import { defineEntity, p } from '@mikro-orm/core'
import type * as Library from '../../lib/index.ts'

const { RestEngine } = (await import(process.argv[2]!)) as typeof Library
const database = JSON.parse(process.argv[3]!) as NonNullable<Library.EngineOptions['database']>

const Owner = defineEntity({ name: 'Owner', properties: { id: p.integer().primary(), name: p.text() } })
const Place = defineEntity({ name: 'Place', properties: { id: p.integer().primary(), street: p.text() } })
const Label = defineEntity({ name: 'Label', properties: { id: p.integer().primary(), name: p.text() } })
const Tag = defineEntity({ name: 'Tag', properties: { id: p.integer().primary(), name: p.text() } })
const Article = defineEntity({
  name: 'Article',
  properties: {
    id: p.integer().primary(),
    headline: p.text(),
    amount: p.integer(),
    stars: p.integer(),
    digits: p.integer(),
    place: () => p.manyToOne(Place),
    code: p.text().nullable().unique(),
    owner: () => p.manyToOne(Owner),
    // The old tables have one label, and a table of links to tags.
    labels: () => p.manyToMany(Label),
    tag: () => p.manyToOne(Tag).nullable(),
  },
})

// What is loaded with the first engine is no part of what is killed.
await (await RestEngine.create({ entities: [Owner, Place, Label, Tag, Article] })).close()
process.stdout.write('begins\n')
const engine = await RestEngine.create({
  entities: [Owner, Place, Label, Tag, Article],
  database,
  schema: 'evolve',
  fill: {
    articles: { stars: 3, digits: row => row['amount'].length, place: row => row['id'] },
    places: { from: 'articles', each: row => ({ id: row['id'], street: row['street'] }) },
  },
  renamed: { entities: { Item: 'Article' }, articles: { title: 'headline', tags: 'tag' } },
  drop: ['article.street', 'article.label', 'item_tags', 'gone'],
})
await engine.close()
process.stdout.write('done\n')
