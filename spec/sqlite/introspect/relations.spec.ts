/** Foreign keys of SQLite files as relations: their kinds, their names, reading and writing through them. */
import { internalsOf } from '../../../lib/engine/assembly/internals.ts'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { serve } from './world.ts'

const SHOP = `
  create table author (id integer primary key, name text not null, mentor_id integer references author(id));
  create table book (id integer primary key, title text not null, author_id integer not null references author on delete cascade, price real);
  create table passport (id integer primary key, author_id integer not null unique references author(id), no text);
  create table biography (author_id integer primary key references author(id) on delete cascade, text text);
  create table tag (id integer primary key, name text not null unique);
  create table book_tag (book_id integer not null references book on delete cascade, tag_id integer not null references tag on delete cascade,
    primary key (book_id, tag_id));
  create table review (book_id integer references book, reader text, stars int, primary key (book_id, reader)) without rowid;
  create table shelf (room text, no integer, label text, primary key (room, no)) without rowid;
  create table placement (id integer primary key, book_id integer references book, shelf_room text, shelf_no integer,
    foreign key (shelf_room, shelf_no) references shelf (room, no));
  insert into author values (1, 'Ann', null), (2, 'Bob', 1), (3, 'Cid', 1);
  insert into book values (1, 'Emma', 1, 9.5), (2, 'Dune', 2, 7), (3, 'Ulysses', 1, 12);
  insert into passport values (1, 1, 'P1');
  insert into biography values (2, 'Born.');
  insert into tag values (1, 'old'), (2, 'long');
  insert into book_tag values (1, 1), (3, 1), (3, 2);
  insert into review values (1, 'x', 5), (1, 'y', 3);
  insert into shelf values ('hall', 1, 'A'), ('hall', 2, 'B');
  insert into placement values (1, 1, 'hall', 2), (2, 2, null, null);
`

describe('relations of a file', () => {
  it('reads a foreign key both ways, under the column without Id and the plural of the table', async () => {
    await using shop = await serve(SHOP)
    assert.deepEqual(shop.attributes('books'), ['id', 'title', 'author', 'price', 'reviews', 'placements', 'tags'])
    assert.deepEqual(await shop.get('books/1?attributes=author,tags,reviews'), { author: 1, reviews: ['1~x', '1~y'], tags: [1] })
    assert.deepEqual(await shop.get('authors/1/books?attributes=title&sort=title.desc'), [{ title: 'Ulysses' }, { title: 'Emma' }])
    assert.deepEqual(await shop.get('books?author.name=A*&attributes=id'), [{ id: 1 }, { id: 3 }])
    assert.deepEqual((await shop.get('authors?sort=books.desc&attributes=id'))[0], { id: 1 })
    assert.equal((await shop.get('books/2?expand=author')).author.name, 'Bob')
  })

  it('writes through a foreign key', async () => {
    await using shop = await serve(SHOP)
    const book = await shop.write('POST', 'books', { title: 'New', author: { name: 'Dee' }, tags: [2, { name: 'fresh' }] })
    assert.deepEqual(book, { id: 4, title: 'New', author: 4, price: null, reviews: [], placements: [], tags: [2, 3] })
    assert.deepEqual(shop.rows('select * from book_tag where book_id = 4'), [
      { book_id: 4, tag_id: 2 },
      { book_id: 4, tag_id: 3 },
    ])
    await shop.write('PUT', 'books/4', { author: 3 })
    await shop.ask('PUT', 'books/4', { author: null }, 422)
    await shop.ask('PUT', 'books/4', { author: 99 }, 422)
    assert.deepEqual(shop.rows('select author_id from book where id = 4'), [{ author_id: 3 }])
    await shop.write('POST', 'authors/3/books', { title: 'Two' })
    assert.deepEqual(await shop.get('authors/3/books?attributes=title'), [{ title: 'New' }, { title: 'Two' }])
    await shop.write('DELETE', 'authors/3')
    assert.deepEqual(shop.rows('select id from book where author_id = 3'), [], 'the cascade of the file')
  })

  it('reads and writes a foreign key to its own table', async () => {
    await using shop = await serve(SHOP)
    assert.deepEqual(await shop.get('authors/1?attributes=mentor,authors'), { mentor: null, authors: [2, 3] })
    await shop.write('PUT', 'authors/1', { authors: [3] })
    assert.deepEqual(shop.rows('select id, mentor_id from author'), [
      { id: 1, mentor_id: null },
      { id: 2, mentor_id: null },
      { id: 3, mentor_id: 1 },
    ])
    assert.deepEqual(await shop.get('authors?mentor=null&attributes=id'), [{ id: 1 }, { id: 2 }])
  })

  it('reads a unique foreign key, and one that is the key, as one-to-one', async () => {
    await using shop = await serve(SHOP)
    assert.deepEqual(await shop.get('authors?attributes=id,passport,biography'), [
      { id: 1, passport: 1, biography: null },
      { id: 2, passport: null, biography: 2 },
      { id: 3, passport: null, biography: null },
    ])
    assert.deepEqual(await shop.get('biographies'), [{ author: 2, text: 'Born.' }])
    await shop.write('POST', 'biographies', { author: 3, text: 'Too.' })
    await shop.ask('POST', 'biographies', { author: 3, text: 'Again.' }, 409)
    await shop.ask('POST', 'passports', { author: 1 }, 409)
    await shop.write('PUT', 'biographies/3', { text: 'Changed.' })
    await shop.write('POST', 'authors', { name: 'Eve', passport: { no: 'P9' } })
    assert.deepEqual(shop.rows('select * from biography'), [
      { author_id: 2, text: 'Born.' },
      { author_id: 3, text: 'Changed.' },
    ])
    assert.deepEqual(shop.rows('select author_id from passport where no = ?', 'P9'), [{ author_id: 4 }])
    await shop.write('DELETE', 'biographies/3')
  })

  it('reads a pure pivot table as a list on both sides, and no resource', async () => {
    await using shop = await serve(SHOP)
    assert.equal(internalsOf(shop.engine).model.byName.has('book_tags'), false)
    assert.deepEqual(await shop.get('tags?depth=2&attributes=name,books.title'), [
      { name: 'old', books: [{ title: 'Emma' }, { title: 'Ulysses' }] },
      { name: 'long', books: [{ title: 'Ulysses' }] },
    ])
    assert.deepEqual(await shop.get('books?tags.name=long&attributes=id'), [{ id: 3 }])
    await shop.write('PUT', 'tags/2', { books: [1, 2] })
    assert.deepEqual(shop.rows('select book_id from book_tag where tag_id = 2 order by 1'), [{ book_id: 1 }, { book_id: 2 }])
    await shop.write('DELETE', 'tags/1')
    assert.deepEqual(shop.rows('select count(*) as n from book_tag'), [{ n: 2 }])
  })

  it('keeps a table with two links and something else as a resource with a composite key', async () => {
    await using shop = await serve(SHOP)
    assert.deepEqual(await shop.get('reviews/1~y'), { book: 1, reader: 'y', stars: 3 })
    await shop.write('POST', 'reviews', { book: 2, reader: 'a~b', stars: 1 })
    assert.deepEqual(await shop.get('reviews/2~a%7Eb'), { book: 2, reader: 'a~b', stars: 1 })
    await shop.write('PUT', 'reviews/1~x', { stars: 4 })
    await shop.write('DELETE', 'reviews/1~y')
    assert.deepEqual(shop.rows('select * from review where book_id = 1'), [{ book_id: 1, reader: 'x', stars: 4 }])
  })

  it('reads and writes composite foreign keys', async () => {
    await using shop = await serve(SHOP)
    assert.deepEqual(await shop.get('placements?depth=2&attributes=id,shelf'), [
      { id: 1, shelf: { room: 'hall', no: 2, label: 'B', placements: [1] } },
      { id: 2, shelf: null },
    ])
    assert.deepEqual(await shop.get('placements?shelf=hall~2&attributes=id'), [{ id: 1 }])
    assert.deepEqual(await shop.get('placements?shelf.label=B&attributes=id'), [{ id: 1 }])
    await shop.write('PUT', 'placements/2', { shelf: 'hall~1' })
    await shop.write('POST', 'placements', { shelf: { room: 'attic', no: 7 } })
    assert.deepEqual(shop.rows('select id, shelf_room, shelf_no from placement where id > 1'), [
      { id: 2, shelf_room: 'hall', shelf_no: 1 },
      { id: 3, shelf_room: 'attic', shelf_no: 7 },
    ])
    await shop.write('PUT', 'placements/1', { shelf: null })
    assert.deepEqual(shop.rows('select shelf_room, shelf_no from placement where id = 1'), [{ shelf_room: null, shelf_no: null }])
    assert.deepEqual(await shop.get('shelves/attic~7/placements?attributes=id'), [{ id: 3 }])
  })

  it('tells several links to one table apart by their names', async () => {
    await using bank = await serve(`
      create table party (id integer primary key, name text);
      create table bill (id integer primary key, payer_id integer references party, payeeId integer references party);
      create table follows (follower_id integer references party, followed_id integer references party, primary key (follower_id, followed_id));
      create table liked (party_id integer references party, bill_id integer references bill, primary key (party_id, bill_id));
      create table hidden (party_id integer references party, bill_id integer references bill, primary key (party_id, bill_id));
      insert into party values (1, 'a'), (2, 'b');
      insert into bill values (1, 1, 2);
      insert into follows values (1, 2);
      insert into liked values (2, 1);
    `)
    assert.deepEqual(bank.attributes('bills'), ['id', 'payer', 'payee', 'partiesViaLiked', 'partiesViaHidden'])
    assert.deepEqual(bank.attributes('parties'), [
      'id',
      'name',
      'billsAsPayer',
      'billsAsPayee',
      'followeds',
      'followers',
      'billsViaLiked',
      'billsViaHidden',
    ])
    assert.deepEqual(await bank.get('parties/1'), {
      id: 1,
      name: 'a',
      billsAsPayer: [1],
      billsAsPayee: [],
      followeds: [2],
      followers: [],
      billsViaLiked: [],
      billsViaHidden: [],
    })
    await bank.write('PUT', 'parties/2', { followeds: [1], billsViaHidden: [1] })
    assert.deepEqual(bank.rows('select * from follows'), [
      { follower_id: 1, followed_id: 2 },
      { follower_id: 2, followed_id: 1 },
    ])
    assert.deepEqual(bank.rows('select * from hidden'), [{ party_id: 2, bill_id: 1 }])
  })

  it('shows foreign keys that no relation can be made of as plain columns', async () => {
    await using odd = await serve(`
      create table country (id integer primary key, code text unique);
      create table town (id integer primary key, country_code text references country(code), gone_id integer references gone(id));
      create table road (id integer primary key, code text collate nocase references country(code), number text unique, town text references town(id));
      create table bridge (id integer primary key, road int references road(number));
      create table tenant (id integer primary key);
      create table member (tenant_id integer references tenant, no integer, primary key (no, tenant_id));
      create table note (id integer primary key, tenant_id integer references tenant, member_no integer,
        foreign key (tenant_id, member_no) references member (tenant_id, no));
      insert into country values (1, 'cz');
      insert into town values (1, 'lost', 5);
      insert into road values (1, 'cz', '7', 1);
      insert into bridge values (1, 7);
      insert into tenant values (1);
      insert into member values (1, 7);
      insert into note values (1, 1, 7);
    `)
    assert.deepEqual(await odd.get('towns?attributes=!roads'), [{ id: 1, countryCode: 'lost', goneId: 5 }])
    assert.deepEqual(await odd.get('roads?attributes=!town'), [{ id: 1, code: 'cz', number: '7' }])
    assert.deepEqual(await odd.get('bridges'), [{ id: 1, road: 7 }])
    assert.deepEqual(await odd.get('notes?depth=2'), [{ id: 1, member: { tenant: 1, no: 7, notes: [1] } }])
    assert.deepEqual(await odd.get('members/1~7'), { tenant: 1, no: 7, notes: [1] })
    assert.deepEqual(await odd.get('tenants'), [{ id: 1, members: ['1~7'] }])
    // Nobody can say whether the table that is gone has the row.
    assert.equal((await odd.write('PUT', 'towns/1', { countryCode: null, goneId: 6 })).goneId, 6)
  })

  it('follows a foreign key to a unique column', async () => {
    await using atlas = await serve(`
      create table country (id integer primary key, code text not null unique, name text);
      create table city (id integer primary key, name text, country_code text not null references country(code) on update cascade);
      create table flag (id integer primary key, country text unique references country(code) on delete cascade);
      insert into country values (1, 'de', 'Germany'), (2, 'fr', 'France');
      insert into city values (1, 'Berlin', 'de'), (2, 'Paris', 'fr'), (3, 'Bonn', 'de');
      insert into flag values (1, 'fr');
    `)
    assert.deepEqual(await atlas.get('cities?country=1&attributes=id,country'), [
      { id: 1, country: 1 },
      { id: 3, country: 1 },
    ])
    assert.deepEqual(await atlas.get('countries?sort=cities.desc'), [
      { id: 1, code: 'de', name: 'Germany', cities: [1, 3], flag: null },
      { id: 2, code: 'fr', name: 'France', cities: [2], flag: 1 },
    ])
    assert.equal((await atlas.get('cities/2?depth=2')).country.name, 'France')
    await atlas.write('PUT', 'cities/3', { country: 2 })
    await atlas.write('PUT', 'countries/1', { code: 'dd' })
    await atlas.write('POST', 'cities', { name: 'Ulm', country: 1 })
    assert.deepEqual(
      atlas.rows('select country_code from city order by id').map(row => (row as Record<string, unknown>)['country_code']),
      ['dd', 'fr', 'fr', 'dd'],
    )
    await atlas.ask('DELETE', 'countries/1', undefined, 409)
  })

  it('takes a column that is unique and never NULL for the key of a table that declares none', async () => {
    await using file = await serve(`
      create table gem (name text not null, n int);
      create unique index gem_name on gem (name);
      create table advisory (id integer primary key, gem_name text not null references gem(name), text text);
      insert into gem values ('rails', 1);
      insert into advisory values (1, 'rails', 'a');
    `)
    assert.deepEqual(await file.get('gems/rails'), { name: 'rails', n: 1, advisories: [1] })
    assert.deepEqual(await file.get('advisories?expand=gemName&attributes=gemName'), [
      { gemName: { name: 'rails', n: 1, advisories: [1] } },
    ])
    await file.write('POST', 'gems', { name: 'rack' })
    await file.write('PUT', 'advisories/1', { gemName: 'rack' })
    const [error] = (await file.ask('POST', 'advisories', { gemName: 'none' }, 422)).errors
    assert.deepEqual([error.code, error.attribute], ['reference_not_found', 'gemName'])
  })

  it('names the columns of a foreign key that is no relation where it is broken', async () => {
    await using file = await serve(`
      create table place (id integer primary key, a int not null, b int not null, unique (a, b));
      create table visit (id integer primary key, x int, y int, foreign key (x, y) references place (a, b));
      insert into place values (1, 1, 2);
    `)
    await file.write('POST', 'visits', { x: 1, y: 2 })
    for (const [method, path, body] of [
      ['POST', 'visits', { x: 1, y: 3 }],
      ['PUT', 'visits/1', { x: 3, y: 2 }],
    ] as const) {
      const { detail, errors } = await file.ask(method, path, body, 422)
      assert.equal(detail, '"x" names what is not there. "y" names what is not there.')
      assert.deepEqual(
        errors.map(({ code, attribute }: { code: string; attribute: string }) => [code, attribute]),
        [
          ['reference_not_found', 'x'],
          ['reference_not_found', 'y'],
        ],
      )
    }
    assert.match((await file.ask('PUT', 'places/1', { b: 9 }, 409)).detail, /^A foreign key of the database refuses it: /)
  })

  it('shows links to records that are gone as the file has them', async () => {
    await using shop = await serve(`${SHOP} insert into book values (9, 'Lost', 77, null);`)
    assert.deepEqual(await shop.get('books/9?attributes=title,author'), { title: 'Lost', author: 77 })
    assert.deepEqual(await shop.get('books/9?depth=2&attributes=title,author'), { title: 'Lost', author: null })
    assert.deepEqual(await shop.write('PUT', 'books/9', { title: 'Still' }), {
      id: 9,
      title: 'Still',
      author: 77,
      price: null,
      reviews: [],
      placements: [],
      tags: [],
    })
  })

  it('takes links to records that are gone where a body repeats them, and no others', async () => {
    await using shop = await serve(`${SHOP} insert into book values (9, 'Lost', 77, null); insert into book_tag values (9, 88), (9, 1);`)
    const shown = (await shop.get('books/9')) as Record<string, unknown>
    assert.deepEqual([shown['author'], shown['tags']], [77, [1, 88]])
    assert.deepEqual(await shop.write('PUT', 'books/9', { ...shown, title: 'Still' }), { ...shown, title: 'Still' })
    assert.deepEqual((await shop.write('PUT', 'books/9/tags', [1, 88])).tags, [1, 88])
    for (const body of [{ author: 78 }, { tags: [88] }, { tags: [1, 88, 89] }, { author: 77, tags: [89] }]) {
      const { detail } = await shop.ask('PUT', 'books/9', body, 422)
      assert.match(detail, /there is no (author|tag) with the ID/)
    }
    assert.match((await shop.ask('POST', 'books', { title: 'New', author: 77 }, 422)).detail, /there is no author with the ID 77/)
    assert.deepEqual(shop.rows('select tag_id from book_tag where book_id = 9 order by tag_id'), [{ tag_id: 1 }, { tag_id: 88 }])
  })

  it('refuses what would leave others without what they need, and lets the file unlink', async () => {
    await using shop = await serve(`
      create table owner (id integer primary key);
      create table strict (id integer primary key, owner_id integer not null references owner);
      create table loose (id integer primary key, owner_id integer references owner on delete set null);
      create table fallen (id integer primary key, owner_id integer default 1 references owner on delete set default);
      insert into owner values (1), (2), (3);
      insert into strict values (1, 2);
      insert into loose values (1, 3);
      insert into fallen values (1, 3);
    `)
    const refused = await shop.ask('DELETE', 'owners/2', undefined, 409)
    assert.equal(refused.code, 'owner_required')
    await shop.write('DELETE', 'owners/3')
    assert.equal((await shop.get('looses/1')).owner, null)
    assert.equal((await shop.get('fallens/1')).owner, 1)
  })

  it('reads the links of rows without IDs, from their own list', async () => {
    await using shop = await serve(`
      create table person (id integer primary key, name text not null);
      create table team (id integer primary key, code text unique);
      create table shelf (room text, no integer, label text, primary key (room, no));
      create table visit (person_id integer references person, team_code text references team (code), shelf_room text, shelf_no integer,
        pages int, foreign key (shelf_room, shelf_no) references shelf);
      create table membership (person_id integer not null references person, team_id integer not null references team);
      create table scan (id blob primary key, person_id integer unique references person on delete set null);
      create table print (id integer primary key, scan_id blob references scan);
      insert into person values (1, 'Ann'), (2, 'Bob'), (3, 'Cid');
      insert into team values (1, 'red'), (2, 'blue');
      insert into shelf values ('hall', 1, 'A');
      insert into visit values (2, 'blue', 'hall', 1, 5), (1, null, null, null, 3), (null, 'red', null, null, 8), (1, 'red', null, null, 9);
      insert into membership values (1, 2), (1, 2), (2, 1);
      insert into scan values (x'00ff', 3);
      insert into print values (1, x'00ff');
    `)
    assert.deepEqual((await shop.get('visits'))[0], { person: 2, team: 2, shelf: 'hall~1', pages: 5 })
    assert.deepEqual((await shop.get('visits?depth=2&limit=1'))[0], {
      person: { id: 2, name: 'Bob' },
      team: { id: 2, code: 'blue' },
      shelf: { room: 'hall', no: 1, label: 'A' },
      pages: 5,
    })
    const pages = async (query: string): Promise<unknown> =>
      (await shop.get(`visits?attributes=pages&${query}`)).map((visit: { pages: number }) => visit.pages)
    assert.deepEqual(await pages('person=1'), [3, 9])
    assert.deepEqual(await pages('person=null'), [8])
    assert.deepEqual(await pages('team.code=red&sort=pages.desc'), [9, 8])
    assert.deepEqual(await pages('shelf.label=A'), [5])
    assert.deepEqual(await pages('sort=person.name.desc'), [5, 3, 9, 8])
    assert.deepEqual(await shop.get('memberships?person.name=Ann&expand=team'), [
      { person: 1, team: { id: 2, code: 'blue' } },
      { person: 1, team: { id: 2, code: 'blue' } },
    ])
    assert.deepEqual(await shop.get('scans?depth=2'), [{ id: 'AP8=', person: { id: 3, name: 'Cid' } }])
    assert.deepEqual(shop.attributes('people'), ['id', 'name'])
    assert.deepEqual(shop.engine.notes, [
      'visit: its rows have no IDs, since it has no key. Its own list shows "person", "team", "shelf" and is filtered by them; ' +
        'records of person, team, shelf have no list of its rows.',
      'membership: its rows have no IDs, since it has no key. Its own list shows "person", "team" and is filtered by them; ' +
        'records of person, team have no list of its rows.',
      'scan: its rows have no IDs, since its key (id) cannot be an ID. Its own list shows "person" and is filtered by it; ' +
        'records of person have no list of its rows.',
      'print.scan_id: the values are shown, and no relation, since the rows of scan have no IDs.',
    ])
    await shop.ask('POST', 'visits', { person: 1 }, 405)
    assert.equal((await shop.ask('DELETE', 'people/2', undefined, 409)).code, 'owner_required')
    await shop.write('DELETE', 'people/3')
    assert.deepEqual(await shop.get('scans'), [{ id: 'AP8=', person: null }], 'the file unlinks it')
  })
})
