/** `renamed`: entities and properties with new names keep their rows, values and links. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { describeEvolved } from './evolved.ts'

const id = () => p.integer().primary()

const Tag = defineEntity({ name: 'Tag', properties: { id: id(), name: p.string() } })
const Trip = defineEntity({
  name: 'Trip',
  properties: { id: id(), title: p.string().unique(), kind: p.enum(['sea', 'land']), days: p.integer(), tags: () => p.manyToMany(Tag) },
})
const Stop = defineEntity({ name: 'Stop', properties: { id: id(), place: p.string(), trip: () => p.manyToOne(Trip) } })
const OLD = [Tag, Trip, Stop]
const SEED = {
  tags: [{ id: 1, name: 'warm' }],
  trips: [
    { id: 1, title: 'Rome', kind: 'land', days: 3, tags: [1] },
    { id: 2, title: 'Crete', kind: 'sea', days: 9, tags: [1] },
  ],
  stops: [{ id: 1, place: 'Ostia', trip: 2 }],
}

const Journey = defineEntity({
  name: 'Journey',
  properties: { id: id(), title: p.string().unique(), kind: p.enum(['sea', 'land']), days: p.integer(), tags: () => p.manyToMany(Tag) },
})
const Halt = defineEntity({ name: 'Stop', properties: { id: id(), place: p.string(), trip: () => p.manyToOne(Journey) } })
const NEW = [Tag, Journey, Halt]
const renamed = { entities: { Trip: 'Journey' } }

describeEvolved('renames', (make, isServer) => {
  it('gives an entity its new name, with rows, links from and to it, and constraints; a second start does nothing', async () => {
    for (const names of [{ Trip: 'Journey' }, { trips: 'journey' }]) {
      await using own = make()
      await own.evolve(OLD, { seed: SEED })
      await own.evolve(NEW, { renamed: { entities: names } })
      assert.deepEqual(await own.tables(), ['journey', 'journey_tags', 'stop', 'tag'])
      assert.deepEqual(await own.rows('select id, title, days from journey order by id'), [
        { id: 1, title: 'Rome', days: 3 },
        { id: 2, title: 'Crete', days: 9 },
      ])
      assert.deepEqual(await own.rows('select journey_id, tag_id from journey_tags order by 1'), [
        { journey_id: 1, tag_id: 1 },
        { journey_id: 2, tag_id: 1 },
      ])
      assert.deepEqual(await own.rows('select trip_id from stop'), [{ trip_id: 2 }])
      assert.deepEqual(await own.evolve(NEW, { renamed: { entities: names } }), [])
      await assert.rejects(own.run("insert into journey (id, title, kind, days) values (7, 'Rome', 'sea', 1)"), /unique/i)
      await assert.rejects(own.run("insert into journey (id, title, kind, days) values (7, 'Oslo', 'air', 1)"), /check/i)
      await assert.rejects(
        own.run("pragma foreign_keys = on; insert into stop (id, place, trip_id) values (7, 'x', 99)"),
        isServer ? /syntax/ : /FOREIGN KEY/,
      )
      if (isServer) {
        const old = "select relname from pg_class where relnamespace = current_schema()::regnamespace and relname like 'trip%'"
        assert.deepEqual(await own.rows(old), [])
      }
    }
  })

  it('asks whether a table is a new entity, where the plan stands, and where something stands against it', async () => {
    await using own = make()
    await own.evolve(OLD, { seed: SEED })
    const line = 'if "trip" is Journey by a new name, say renamed: { entities: { Trip: \'Journey\' } } (--rename trip=journey)'
    await own.refuse(NEW, {}, 'to no row of "journey"', line)
    const Free = defineEntity({ name: 'Stop', properties: { id: id(), place: p.string(), trip_id: p.integer() } })
    await own.refuse([Tag, Journey, Free], { drop: true }, '"trip" has 2 rows', line)
    const notes = await own.evolve([Tag, Journey, Free])
    assert.ok(
      notes.some(note => note === `${line[0]!.toUpperCase()}${line.slice(1)}.`),
      notes.join('\n'),
    )
    assert.ok(notes.includes('trip: no entity of the model, 2 rows. The table stays as it is.'))
    // What that start has added is empty, and makes room. Triggers by hand would go with the table.
    await own.run(
      isServer
        ? 'create function noop() returns trigger language plpgsql as $$ begin return new; end $$; ' +
            'create trigger by_hand before insert on journey for each row execute function noop()'
        : 'create trigger by_hand after insert on journey begin select 1; end',
    )
    await own.refuse(NEW, { renamed }, 'the empty table "journey" cannot make room', '"by_hand": drop them first, and make them again')
    await own.run(`drop trigger by_hand${isServer ? ' on journey' : ''}`)
    await own.evolve(NEW, { renamed })
    assert.deepEqual(await own.tables(), ['journey', 'journey_tags', 'stop', 'tag'])
    assert.deepEqual(await own.rows('select title from journey order by id'), [{ title: 'Rome' }, { title: 'Crete' }])
    assert.deepEqual(await own.rows('select count(*) as n from journey_tags'), [{ n: isServer ? '2' : 2 }])
  })

  it('takes no table that has rows away, and no name that nobody has', async () => {
    await using own = make()
    await own.evolve(OLD, { seed: SEED })
    await own.evolve([...OLD.slice(0, 2), Journey], {})
    await own.run("insert into journey (id, title, kind, days) values (1, 'Oslo', 'sea', 1)")
    await own.refuse([Tag, Journey], { renamed }, 'the table "trip" cannot become "journey", since both have rows', "drop: ['trip']")
    await own.refuse(
      [Tag, Trip, Journey],
      { renamed: { entities: { Trp: 'Journy' } } },
      'names the resource "Journy"',
      'Did you mean "journey"?',
    )
    const Voyage = defineEntity({ name: 'Voyage', properties: { id: id(), title: p.string() } })
    await own.refuse(
      [Tag, Trip, Voyage],
      { renamed: { entities: { Trp: 'Voyage' } } },
      '"Trp" cannot be renamed, since there is no table "trp"',
    )
    await own.refuse(
      [Tag, Trip, Voyage],
      { renamed: { entities: { Trip: 'Voyage' } } },
      '"Trip" cannot be renamed, since the model still has the table "trip"',
    )
  })

  it('copies into a column that an earlier start has added and that is empty', async () => {
    await using own = make()
    const before = defineEntity({ name: 'Note', properties: { id: id(), title: p.string(), body: p.string().nullable() } })
    await own.evolve([before], {
      seed: {
        notes: [
          { id: 1, title: 'One' },
          { id: 2, title: 'Two' },
        ],
      },
    })
    const open = defineEntity({
      name: 'Note',
      properties: { id: id(), headline: p.string().nullable().index(), body: p.string().nullable() },
    })
    await own.evolve([open])
    const after = defineEntity({ name: 'Note', properties: { id: id(), headline: p.string().index(), body: p.string().nullable() } })
    const options = { renamed: { notes: { title: 'headline' } } }
    const notes = await own.evolve([after], options)
    assert.ok(
      notes.some(note => note.includes('note.title: the column becomes "headline", with its values.')),
      notes.join('\n'),
    )
    assert.deepEqual(
      await own.rows('select * from note order by id'),
      [
        { id: 1, headline: 'One', body: null },
        { id: 2, headline: 'Two', body: null },
      ].map(row => (isServer ? row : row)),
    )
    assert.deepEqual(await own.evolve([after], options), [])
    const index = isServer
      ? "select 1 as n from pg_indexes where tablename = 'note' and schemaname = current_schema() and indexdef like '%headline%'"
      : "select 1 as n from sqlite_schema where type = 'index' and sql like '%headline%'"
    assert.deepEqual(await own.rows(index), [{ n: 1 }])
  })

  it('refuses to choose between two columns with values, and a name that no property uses', async () => {
    await using own = make()
    const before = defineEntity({ name: 'Note', properties: { id: id(), title: p.string().nullable(), headline: p.string().nullable() } })
    await own.evolve([before], { seed: { notes: [{ id: 1, title: 'One', headline: 'Two' }] } })
    const after = defineEntity({ name: 'Note', properties: { id: id(), headline: p.string().nullable() } })
    await own.refuse(
      [after],
      { renamed: { notes: { title: 'headline' } } },
      'note.title cannot become "headline", since both columns have values',
      "drop: ['note.title']",
    )
    await own.refuse([after], { renamed: { notes: { title: 'caption' } } }, '"renamed.notes" names "caption", which is no property of Note')
    const both = defineEntity({ name: 'Note', properties: { id: id(), title: p.string().nullable(), caption: p.string().nullable() } })
    await own.refuse(
      [both],
      { renamed: { notes: { title: 'caption' } } },
      '"notes.title" cannot be renamed, since the model still has a property of that name',
    )
  })

  it('moves the links of a relation to many with its new name', async () => {
    await using own = make()
    await own.evolve(OLD, { seed: SEED })
    const Labelled = defineEntity({
      name: 'Trip',
      properties: {
        id: id(),
        title: p.string().unique(),
        kind: p.enum(['sea', 'land']),
        days: p.integer(),
        labels: () => p.manyToMany(Tag),
      },
    })
    const Stops = defineEntity({ name: 'Stop', properties: { id: id(), place: p.string(), trip: () => p.manyToOne(Labelled) } })
    const options = { renamed: { trips: { tags: 'labels' } } }
    await own.evolve([Tag, Labelled, Stops], options)
    assert.deepEqual(await own.tables(), ['stop', 'tag', 'trip', 'trip_labels'])
    assert.deepEqual(await own.rows('select trip_id, tag_id from trip_labels order by 1'), [
      { trip_id: 1, tag_id: 1 },
      { trip_id: 2, tag_id: 1 },
    ])
    assert.deepEqual(await own.evolve([Tag, Labelled, Stops], options), [])
  })

  it('marks links to one of several entities anew', async () => {
    await using own = make()
    const Post = defineEntity({ name: 'Post', properties: { id: id(), text: p.string() } })
    const note = (target: typeof Trip | typeof Journey) =>
      defineEntity({ name: 'Remark', properties: { id: id(), text: p.string(), about: () => p.manyToOne([Post, target] as never) } })
    const remark = note(Trip)
    await own.evolve([Tag, Trip, Post, remark], { seed: { tags: SEED.tags, trips: SEED.trips } })
    await own.run("insert into remark (id, text, about_type, about_id) values (1, 'fine', 'trip', 2)")
    await own.evolve([Tag, Journey, Post, note(Journey)], { renamed })
    assert.deepEqual(await own.rows('select about_type, about_id from remark'), [{ about_type: 'journey', about_id: 2 }])
  })
})
