/** What cannot be served is refused when the engine is created, by entity, property and reason. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { EntitySchema, Type, defineEntity, p } from '@mikro-orm/sqlite'
import { createEngine, describeStores } from '../helpers/stores.ts'

const User = defineEntity({ name: 'User', properties: { id: p.integer().primary(), email: p.string().unique() } })
const Team = defineEntity({ name: 'Team', properties: { id: p.integer().primary() } })
const LinkedOneOf = defineEntity({ name: 'LinkedOneOf', embeddable: true, properties: { of: () => p.manyToOne([User, Team]) } })
const LinkedByEmail = defineEntity({
  name: 'LinkedByEmail',
  embeddable: true,
  properties: { user: () => p.manyToOne(User).targetKey('email') },
})
const Linking = defineEntity({ name: 'Linking', embeddable: true, properties: { users: () => p.manyToMany(User) } })
const Single = defineEntity({ name: 'Single', embeddable: true, properties: { user: () => p.oneToOne(User) } })
const Day = defineEntity({ name: 'Day', properties: { on: p.date().primary() } })
const OnDay = defineEntity({ name: 'OnDay', embeddable: true, properties: { day: () => p.manyToOne(Day) } })
const Owned = defineEntity({
  name: 'Owned',
  properties: {
    id: p.integer().primary(),
    holders: () => (p.oneToMany(Holding) as unknown as { mappedBy(name: string): never }).mappedBy('in_owned'),
  },
})
const InOwned = defineEntity({ name: 'InOwned', embeddable: true, properties: { owned: () => p.manyToOne(Owned) } })
const Holding = defineEntity({ name: 'Holding', properties: { id: p.integer().primary(), in: () => p.embedded(InOwned) } })
const Dated = defineEntity({ name: 'Dated', embeddable: true, properties: { at: p.datetime() } })
const Taken = defineEntity({ name: 'Taken', properties: { id: p.integer().primary(), type: p.string(), resource: p.string() } })
const Desk = defineEntity({ name: 'Desk', properties: { room: p.string().primary(), number: p.integer().primary() } })
const Paper = defineEntity({ name: 'Paper', properties: { id: p.integer().primary(), print: p.blob().unique() } })
const id = p.integer().primary()
const Cat = defineEntity({ name: 'Cat', embeddable: true, properties: { name: p.string(), meows: p.boolean().nullable() } })
const Dog = defineEntity({ name: 'Dog', embeddable: true, properties: { name: p.string(), barks: p.boolean().nullable() } })
const Kennel = defineEntity({ name: 'Kennel', embeddable: true, properties: { pet: () => p.embedded([Cat, Dog]) } })

const Part = defineEntity({ name: 'Part', properties: { a: p.integer().primary(), b: p.integer().primary() } })
const Spare = defineEntity({ name: 'Spare', properties: { part: () => p.oneToOne(Part).primary() } })
const Refit = defineEntity({ name: 'Refit', properties: { part: () => p.oneToOne(Part).primary() } })

class Caller {
  name!: string
  call(): string {
    return this.name
  }
}
const CallerSchema = new EntitySchema<Caller>({
  class: Caller,
  embeddable: true,
  properties: { name: { type: 'string' }, call: { type: 'string', persist: false, getter: true, getterName: 'call' } } as never,
})

class UnhexType extends Type<string, string> {
  override convertToDatabaseValueSQL(key: string): string {
    return `unhex(${key})`
  }
}

const CASES: [what: string, entities: unknown[], message: RegExp][] = [
  [
    'a target key that is mapped to',
    [User, defineEntity({ name: 'Note', properties: { id, author: () => p.manyToOne(User).targetKey('email').mapToPk() } })],
    /^Note\.author cannot be served: .*targetKey.*mapToPk/,
  ],
  [
    'a target key that is part of a key',
    [User, defineEntity({ name: 'Note', properties: { author: () => p.manyToOne(User).targetKey('email').primary() } })],
    /^Note\.author cannot be served: .*targetKey.*part of a key/,
  ],
  [
    'a target key whose column is part of another relation',
    [
      User,
      Desk,
      defineEntity({
        name: 'Note',
        properties: {
          id,
          desk: () => p.manyToOne(Desk).joinColumns('room', 'number').referencedColumnNames('room', 'number').ownColumns('number'),
          author: () => p.manyToOne(User).targetKey('email').joinColumn('room'),
        },
      }),
    ],
    /^Note\.author cannot be served: .*targetKey.*column of another property/,
  ],
  [
    'a target key that is no plain value',
    [Paper, defineEntity({ name: 'Note', properties: { id, paper: () => p.manyToOne(Paper).targetKey('print') } })],
    /^Note\.paper cannot be served: "print" of Paper cannot be referred to/,
  ],
  [
    'a polymorphic relation that is mapped to keys',
    [User, Team, defineEntity({ name: 'Like', properties: { id, of: () => p.manyToOne([User, Team]).mapToPk() } })],
    /^Like\.of cannot be served: .*polymorphic.*mapToPk/,
  ],
  [
    'a polymorphic relation to entities that take all names for what tells them apart',
    [User, Taken, defineEntity({ name: 'Like', properties: { id, of: () => p.manyToOne([User, Taken]) } })],
    /^Like\.of cannot be served: its targets have attributes "type" and "resource"/,
  ],
  ...[p.embedded([Cat, Dog]), p.embedded([Cat, Dog]).object(), p.embedded([Cat, Dog]).array()].map((pet): [string, unknown[], RegExp] => [
    'an embedded object of several classes that nothing tells apart',
    [Cat, Dog, defineEntity({ name: 'Owner', properties: { id, pet } })],
    /^Owner\.pet cannot be served: nothing says which of its classes \(Cat, Dog\) .* discriminatorColumn, /,
  ]),
  [
    'one inside an embedded object',
    [Cat, Dog, Kennel, defineEntity({ name: 'Owner', properties: { id, kennel: () => p.embedded(Kennel) } })],
    /^Owner\.kennel\.pet cannot be served: nothing says which of its classes/,
  ],
  [
    'a polymorphic relation in an embedded object',
    [User, Team, LinkedOneOf, defineEntity({ name: 'Holder', properties: { id, linked: () => p.embedded(LinkedOneOf) } })],
    /^Holder\.linked\.of cannot be served: .*polymorphic.* not supported inside embedded objects/,
  ],
  [
    'a polymorphic relation in an embedded object that is JSON',
    [User, Team, LinkedOneOf, defineEntity({ name: 'Holder', properties: { id, linked: () => p.embedded(LinkedOneOf).object() } })],
    /^Holder\.linked\.of cannot be served: .*polymorphic.* not supported inside embedded objects/,
  ],
  [
    'a target key in an embedded object',
    [User, LinkedByEmail, defineEntity({ name: 'Holder', properties: { id, linked: () => p.embedded(LinkedByEmail) } })],
    /^Holder\.linked\.user cannot be served: .*targetKey.* not supported inside embedded objects/,
  ],
  [
    'a target key in an embedded object that is JSON',
    [User, LinkedByEmail, defineEntity({ name: 'Holder', properties: { id, linked: () => p.embedded(LinkedByEmail).object() } })],
    /^Holder\.linked\.user cannot be served: .*targetKey.* not supported inside embedded objects/,
  ],
  [
    'a relation to a date in a list of embedded objects',
    [Day, OnDay, defineEntity({ name: 'Holder', properties: { id, linked: () => p.embedded(OnDay).array() } })],
    /^Holder\.linked\.day cannot be served: .* must be to an entity whose key is an integer, a string or a UUID/,
  ],
  [
    'a list of records in an embedded object',
    [User, Linking, defineEntity({ name: 'Holder', properties: { id, linked: () => p.embedded(Linking) } })],
    /^Holder\.linked\.users cannot be served: .*only those are supported that hold a foreign key/,
  ],
  [
    'a unique link in an embedded object that is JSON',
    [User, Single, defineEntity({ name: 'Holder', properties: { id, single: () => p.embedded(Single).object() } })],
    /^Holder\.single\.user cannot be served: .*make it many-to-one/,
  ],
  [
    'a link by a date in an embedded object that is JSON',
    [Day, OnDay, defineEntity({ name: 'Holder', properties: { id, at: () => p.embedded(OnDay).object() } })],
    /^Holder\.at\.day cannot be served: .*an integer, a string or a UUID/,
  ],
  [
    'the other side of a relation in an embedded object',
    [Owned, Holding],
    /^Owned\.holders cannot be served: .*other side of a relation inside an embedded object/,
  ],
  [
    'a method as a getter in an embedded object that is JSON',
    [CallerSchema, defineEntity({ name: 'Holder', properties: { id, caller: () => p.embedded(CallerSchema).object() } })],
    /^Holder\.caller\.call cannot be served: .*getterName/,
  ],
  [
    'a link to one of several, of which one has a relation to a key of several parts for its key',
    [Spare, Refit, defineEntity({ name: 'Holder', properties: { id, of: () => p.manyToOne([Spare, Refit]) } })],
    /^Holder\.of cannot be served: the whole key of Spare is a relation/,
  ],
  [
    'a name that arrays have in an embedded array',
    [Dated, defineEntity({ name: 'Holder', properties: { id, all: () => p.embedded(Dated).array() } })],
    /^Holder\.all\.at cannot be served: .*method of arrays/,
  ],
  [
    'a JSON key',
    [defineEntity({ name: 'Odd', properties: { id: p.json().primary() } })],
    /^Odd\.id cannot be served: a json cannot be a key/,
  ],
  [
    'a key of a type that is written by SQL of its own',
    [defineEntity({ name: 'Odd', properties: { id: p.type(UnhexType).primary() } })],
    /^Odd\.id cannot be served: a type with SQL of its own for writing \(convertToDatabaseValueSQL\) cannot be a key/,
  ],
  [
    'a virtual entity of rows',
    [User, defineEntity({ name: 'Rows', expression: (() => [{ n: 1 }]) as never, properties: { n: p.integer() } })],
    /^Rows cannot be served: its expression gives neither SQL nor a query/,
  ],
]

describeStores('kinds that cannot be served', () => {
  for (const [what, entities, message] of CASES) {
    it(what, async () => {
      await assert.rejects(createEngine({ entities: entities as never }), (error: Error) => {
        assert.match(error.message, message)
        return true
      })
    })
  }
})
