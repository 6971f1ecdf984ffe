/** The process that is killed: a server on a file. It prints its port, and is never ended otherwise. */
import { defineEntity, p } from '@mikro-orm/core'
import type { AddressInfo } from 'node:net'
import { RestEngine, createServer } from '../lib/index.ts'

const Note = defineEntity({
  name: 'Note',
  properties: { id: p.integer().primary(), text: p.string(), parts: () => p.oneToMany(Part).mappedBy('note') },
})
const Part = defineEntity({ name: 'Part', properties: { id: p.integer().primary(), text: p.string(), note: () => p.manyToOne(Note) } })

const engine = await RestEngine.create({ entities: [Note, Part], database: process.argv[2]! })
const server = createServer(engine)
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
