/** The music shop Chinook, a SQLite file that many know: every table listed, filtered, sorted and expanded, beside SQL for the same. */
import { internalsOf } from '../../../lib/engine/assembly/internals.ts'
import assert from 'node:assert/strict'
import { copyFileSync, existsSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { pathOf, rowsOf, serve } from './world.ts'

const SOURCE = fileURLToPath(new URL('../../../../shared/data/chinook.sqlite', import.meta.url))
const ABSENT = existsSync(SOURCE) ? false : 'the file chinook.sqlite is not beside the repository'

function copy(): { path: string } {
  const path = pathOf()
  copyFileSync(SOURCE, path)
  return { path }
}

/** A value as SQL gives it, in the form of the API. */
function shown(column: string, value: unknown): unknown {
  return column.endsWith('Date') && typeof value === 'string' ? `${value.replace(' ', 'T')}.000Z` : value
}

describe('Chinook', { skip: ABSENT }, () => {
  it('has a resource for every table but the pivot, with its relations', async () => {
    await using shop = await serve(copy())
    assert.deepEqual(
      internalsOf(shop.engine)
        .model.resources.map(({ plural }) => plural)
        .toSorted(),
      ['albums', 'artists', 'customers', 'employees', 'genres', 'invoice_lines', 'invoices', 'media_types', 'playlists', 'tracks'],
    )
    assert.deepEqual(shop.attributes('tracks'), [
      'trackId',
      'name',
      'album',
      'mediaType',
      'genre',
      'composer',
      'milliseconds',
      'bytes',
      'unitPrice',
      'invoiceLines',
      'playlists',
    ])
    assert.deepEqual(shop.attributes('employees').slice(-3), ['email', 'customers', 'employees'])
  })

  it('shows every row of every table as SQL does', async () => {
    await using shop = await serve(copy())
    for (const resource of internalsOf(shop.engine).model.resources) {
      const rows = shop.rows(`select * from "${resource.table}" order by 1`)
      const records: Record<string, unknown>[] = []
      for (let offset = 0; offset < rows.length; offset += 1000) {
        records.push(...(await shop.get(`${resource.plural}?limit=1000&offset=${offset}&depth=1`)))
      }
      assert.equal(records.length, rows.length)
      for (const attribute of resource.attributes) {
        if (attribute.kind === 'toMany') continue
        const column =
          attribute.kind === 'toOne'
            ? attribute.columns[0]!
            : attribute.kind === 'scalar' && attribute.source.kind === 'column'
              ? attribute.source.column
              : ''
        assert.deepEqual(
          records.map(record => record[attribute.name]),
          rows.map(row => shown(column, row[column])),
          `${resource.plural}.${attribute.name}`,
        )
      }
    }
  })

  it('filters and sorts every column as SQL does', async () => {
    await using shop = await serve(copy())
    for (const resource of internalsOf(shop.engine).model.resources) {
      const [key] = resource.key
      const attributes = resource.keyNames.join()
      for (const attribute of resource.attributes) {
        if (attribute.kind !== 'scalar' || attribute.source.kind !== 'column') continue
        const { column } = attribute.source
        const from = `from "${resource.table}"`
        const ids = (sql: string, ...values: unknown[]): unknown[] =>
          shop.rows(`select "${key!.column}" as id ${from} ${sql} limit 50`, ...values).map(row => row.id)
        const asked = async (query: string): Promise<unknown[]> =>
          (await shop.get(`${resource.plural}?${query}&limit=50&attributes=${attributes}`)).map(
            (row: Record<string, unknown>) => row[resource.keyNames[0]!],
          )
        assert.deepEqual(await asked(`sort=${attribute.name}`), ids(`order by "${column}", 1`))
        assert.deepEqual(await asked(`sort=${attribute.name}.desc`), ids(`order by "${column}" desc, 1`))
        const [middle] = shop.rows(`select "${column}" as v ${from} where "${column}" is not null order by 1 limit 1 offset 3`)
        if (middle === undefined) continue
        const value = String(shown(column, middle.v)).replaceAll(/[\\,*]/g, String.raw`\$&`)
        const text = encodeURIComponent(value)
        assert.deepEqual(
          await asked(`${attribute.name}=${text}`),
          ids(`where "${column}" = ? order by 1`, middle.v),
          `${attribute.name}=${value}`,
        )
        assert.deepEqual(await asked(`${attribute.name}>=${text}`), ids(`where "${column}" >= ? order by 1`, middle.v))
        assert.deepEqual(await asked(`!${attribute.name}=${text}`), ids(`where "${column}" is not ? order by 1`, middle.v))
        assert.deepEqual(await asked(`${attribute.name}=null`), ids(`where "${column}" is null order by 1`))
      }
    }
  })

  it('expands every relation', async () => {
    await using shop = await serve(copy())
    for (const resource of internalsOf(shop.engine).model.resources) {
      for (const attribute of resource.attributes) {
        if (attribute.kind !== 'toOne' && attribute.kind !== 'toMany') continue
        const [record] = await shop.get(`${resource.plural}?limit=1&!${attribute.name}=null&expand=${attribute.name}`)
        const related = attribute.kind === 'toMany' ? record[attribute.name][0] : record[attribute.name]
        const id = related[attribute.target.keyNames[0]!]
        assert.deepEqual({ ...related }, await shop.get(`${attribute.target.plural}/${id}`), `${resource.plural}.${attribute.name}`)
      }
    }
  })

  it('answers the questions of a music shop', async () => {
    await using shop = await serve(copy())
    const bySql = shop.rows(
      'select t."Name" as name, count(*) as n from InvoiceLine l ' +
        'join Track t using (TrackId) group by t.TrackId order by n desc, t.TrackId limit 5',
    )
    assert.deepEqual(
      (await shop.get('tracks?sort=invoiceLines.desc&limit=5&attributes=name')).map(({ name }: { name: string }) => name),
      bySql.map(({ name }) => name),
    )
    const artists = shop.rows(
      'select ar.Name as name, count(l.InvoiceLineId) as n from Artist ar left join Album al using (ArtistId) left ' +
        'join Track t using (AlbumId) left join InvoiceLine l using (TrackId) group by ar.ArtistId order by n desc, ar.ArtistId limit 3',
    )
    assert.deepEqual(
      (await shop.get('artists?sort=albums.tracks.invoiceLines.desc&limit=3&attributes=name')).map(({ name }: { name: string }) => name),
      artists.map(({ name }) => name),
    )
    assert.equal((await shop.ask('GET', 'albums/1/tracks?sort=name')).count, 10)
    assert.equal(
      (await shop.ask('GET', 'customers?invoices.invoiceLines.track.genre.name=Jazz&country=USA')).count,
      shop.rows(
        'select count(distinct c.CustomerId) as n from Customer c join Invoice i using (CustomerId) join InvoiceLine l using ' +
          "(InvoiceId) join Track t using (TrackId) join Genre g using (GenreId) where g.Name = 'Jazz' and c.Country = 'USA'",
      )[0].n,
    )
    assert.equal(
      (await shop.ask('GET', 'invoices?invoiceDate>=2023-01-01&invoiceDate<2024-01-01&total>=10')).count,
      shop.rows("select count(*) as n from Invoice where InvoiceDate >= '2023-01-01' and InvoiceDate < '2024-01-01' and Total >= 10")[0].n,
    )
  })

  it('answers the questions of the guide', async () => {
    await using shop = await serve(copy())
    const page = readFileSync(new URL('../../../docs/sqlite-files.md', import.meta.url), 'utf8')
    const urls = [...page.slice(page.indexOf('Chinook, a music shop')).matchAll(/\?\s+`\/v1\/([^`]+)`/g)].map(match => match[1]!)
    assert.equal(urls.length, 5)
    for (const url of urls) assert.ok((await shop.ask('GET', url)).count > 0, url)
  })

  it('takes orders, and keeps its schema', async () => {
    const { path } = copy()
    const before = rowsOf(path, 'select * from sqlite_schema')
    {
      await using shop = await serve({ path })
      const invoice = await shop.write('POST', 'invoices', {
        customer: 1,
        invoiceDate: '2026-01-31T12:00:00Z',
        total: 1.98,
        invoiceLines: [
          { track: 1, unitPrice: 0.99, quantity: 1 },
          { track: 2, unitPrice: 0.99, quantity: 1 },
        ],
      })
      assert.equal(invoice.invoiceId, 413)
      assert.deepEqual(invoice.invoiceLines, [2241, 2242])
      await shop.ask('DELETE', 'invoices/413', undefined, 409)
      await shop.ask('DELETE', 'invoices/413/invoiceLines')
      await shop.write('DELETE', 'invoices/413')
      await shop.write('PUT', 'playlists/18', { tracks: [597, 1, 2] })
      await shop.write('PUT', 'invoices/1', { invoiceDate: '2021-01-01T08:00:00Z' })
      const refused = await shop.ask('POST', 'tracks', { name: 'x'.repeat(201), mediaType: 99 }, 422)
      assert.deepEqual(
        refused.errors.map(({ code, attribute }: { code: string; attribute: string }) => [attribute, code]),
        [
          ['name', 'too_long'],
          ['milliseconds', 'required'],
          ['unitPrice', 'required'],
          ['mediaType', 'reference_not_found'],
        ],
      )
    }
    assert.deepEqual(rowsOf(path, 'select * from sqlite_schema'), before)
    assert.deepEqual(rowsOf(path, 'select InvoiceDate, typeof(Total) as t from Invoice where InvoiceId = 1'), [
      { InvoiceDate: '2021-01-01 08:00:00', t: 'real' },
    ])
  })
})
