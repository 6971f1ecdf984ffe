/** Request work: who writes, and what exists for the caller. */
import type { EntityManager } from '@mikro-orm/core'
import type { Connection } from '../database/connection.ts'
import type { Reader, View } from '../read/reader.ts'
import type { ConditionalMember, Touched, Work } from './unit-of-work.ts'
import { WriteRules } from '../validate/write-rules.ts'
import { RequestCaller } from '../validate/request-caller.ts'

export class RequestWork extends RequestCaller implements Work {
  readonly em: EntityManager
  readonly conditional: ConditionalMember[] = []
  readonly newMembers: Work['newMembers'] = []
  readonly touched: Touched[] = []
  readonly setByBody = new Set<string>()
  readonly writing: WriteRules | undefined

  constructor(em: EntityManager, connection: Connection, reader: Reader, view: View) {
    super(connection, reader, view)
    this.em = em
    this.writing = WriteRules.of(reader, view)
  }
}
