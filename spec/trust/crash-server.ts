/**
 * A server on a file, or on a PostgreSQL database, as the process that is killed. Its arguments are the library and the database. It prints
 * its port, and never ends by itself.
 */
import { defineEntity, p } from '@mikro-orm/core'
import type { AddressInfo } from 'node:net'
import type * as Library from '../../lib/index.ts'

const { RestEngine, createServer } = (await import(process.argv[2]!)) as typeof Library

const Note = defineEntity({
  name: 'Note',
  properties: { id: p.integer().primary(), text: p.string(), parts: () => p.oneToMany(Part).mappedBy('note') },
})
const Part = defineEntity({ name: 'Part', properties: { id: p.integer().primary(), text: p.string(), note: () => p.manyToOne(Note) } })

const engine = await RestEngine.create({ entities: [Note, Part], database: process.argv[3]! })
const server = createServer(engine)
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
