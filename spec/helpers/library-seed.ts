/**
 * A small library: records of every resource of fixtures/library, with an example for each rule: NULLs and empty lists, names that differ
 * only in case, values that need escapes, keys of every kind.
 */

/** UUIDs with letters, so that their case can be played with. */
export const COPY_1 = '1f0c5a52-7f3c-4a1e-9c2d-aaaaaaaaaaaa'
export const COPY_2 = '2b7d1e90-0d4f-4d2b-8e61-bbbbbbbbbbbb'
export const COPY_3 = '3e9a44c8-5b21-4f7a-a0f3-cccccccccccc'
export const TOKEN = '6ba7b810-9dad-11d1-80b4-00c04fd430c8'

export const librarySeed = {
  genres: [
    { id: 1, name: 'fiction' },
    { id: 2, name: 'crime', parent: 1 },
    { id: 3, name: 'satire', parent: 1 },
    { id: 4, name: 'poetry' },
  ],
  authors: [
    {
      id: 1,
      name: 'Ann',
      email: 'ann@example.test',
      bio: 'Writes.',
      born: '1980-05-17',
      wakesAt: '07:30:00',
      active: true,
      rating: 4.5,
      royalties: '1234.50',
      followers: '9007199254740993',
      role: 'writer',
      passwordHash: 'secret-1',
      pen_name: 'A. Nonymous',
      home: { street: 'High St 1', city: 'Haworth', zip: 'BD22' },
      createdAt: '2026-01-01T00:00:00.000Z',
    },
    {
      id: 2,
      name: 'Bob',
      email: 'bob@example.test',
      active: false,
      role: 'editor',
      passwordHash: 'secret-2',
      home: { street: 'Low Rd 2', city: 'York' },
      createdAt: '2026-01-02T03:04:05.678Z',
      mentor: 1,
    },
    {
      id: 3,
      name: 'ann',
      email: 'lower@example.test',
      bio: '',
      born: '1975-12-31',
      wakesAt: '23:59:59',
      rating: -0.5,
      royalties: '-0.05',
      followers: '12',
      createdAt: '2026-01-03T00:00:00.000Z',
      mentor: 1,
    },
    {
      id: 4,
      name: 'Émile',
      email: 'emile@example.test',
      born: '2000-02-29',
      rating: 0,
      role: 'translator',
      createdAt: '2026-01-04T00:00:00.000Z',
      mentor: 2,
    },
  ],
  profiles: [{ id: 1, website: 'https://ann.test', newsletter: true, author: 1 }],
  books: [
    {
      id: 1,
      title: 'One',
      isbn: '9780000000001',
      pages: 100,
      weight: 0.5,
      price: '19.90',
      discount: 0.25,
      barcode: '9223372036854775807',
      views: 12,
      published: '2020-01-01T00:00:00.000Z',
      edition: 1,
      cover: 'AAEC/w==',
      meta: { z: [1, null, 'x'], a: true },
      size: { width: 10, height: 20.5 },
      author: 1,
      genres: [2, 1],
      similar: [3, 2],
    },
    {
      id: 2,
      title: 'Two',
      pages: 200,
      weight: 1.25,
      price: '5.00',
      published: '2021-06-15T12:30:45.678Z',
      edition: 2,
      author: 1,
      sequelOf: 1,
      genres: [2],
    },
    { id: 3, title: '100% *true*, really', author: 2 },
    {
      id: 4,
      title: 'Four',
      pages: 50,
      price: '0.99',
      published: '1969-12-31T23:59:59.999Z',
      edition: 3,
      size: { width: 1, height: 2, unit: 'in' },
      author: 1,
      genres: [3],
    },
  ],
  reviews: [
    { author: 1, number: 1, stars: 5, text: 'good', book: 3 },
    { author: 2, number: 1, stars: 3, book: 1 },
    { author: 2, number: 2, stars: 4, book: 1 },
    { author: 3, number: 1, stars: 5, book: 1 },
  ],
  comments: [
    { id: 1, text: 'true', review: '2~1' },
    { id: 2, text: 'false', review: '2~1' },
  ],
  branches: [
    { code: 'MAIN', name: 'Main', address: { street: 'Square 1', city: 'Leeds' } },
    { code: 'a/b %~', name: 'Odd', sign: { width: 3, height: 4 } },
  ],
  shelves: [
    { room: 'A~1', number: 4, label: 'Crime' },
    { room: 'B', number: 1 },
    { room: 'C/D', number: 10, label: 'Maps' },
  ],
  copies: [
    { id: COPY_1, acquired: '2024-02-29', token: TOKEN, book: 1, branch: 'MAIN', shelf: 'A%7E1~4' },
    { id: COPY_2, loanable: false, book: 1 },
    { id: COPY_3, book: 2, branch: 'a/b %~', shelf: 'C%2FD~10' },
  ],
}
