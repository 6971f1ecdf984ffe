/** Writes by statements where statements can, else by MikroORM's unit of work, in one transaction. */
import { type EntityManager } from '@mikro-orm/core'
import { chain, runCoroutine, type Awaitable, type Coroutine } from '../../foundation/async/awaitable.ts'
import { bindSurroundings, keepSurroundings } from '../../foundation/async/surroundings.ts'
import type { Trace } from '../../foundation/async/trace.ts'
import type { Connection } from '../database/connection.ts'
import type { Attribute, Model, Resource, ToManyAttribute, ToOneAttribute, ToOneOfAttribute } from '../../model/model.ts'
import { EVERYTHING } from '../plan/visibility.ts'
import type { Reader, View } from '../read/reader.ts'
import type { JsonRecord } from '../read/run-read.ts'
import { checkAttributeBody } from '../validate/check-attribute-body.ts'
import { giveBody, type FillMode } from '../validate/fill-body.ts'
import { traitsOf, type ModelTraits } from '../validate/model-traits.ts'
import { PlannedRemoval } from '../statements/planned-removal.ts'
import type { PlannedWrite } from '../statements/planned-write.ts'
import { RecordChanger } from '../statements/change-record.ts'
import { RecordInserter } from '../statements/insert-record.ts'
import { VersionReader } from '../validate/read-version.ts'
import { RowShapes } from '../statements/row-shapes.ts'
import { RestError } from '../../foundation/errors/errors.ts'
import { isObject, notAnObject, type JsonObject } from '../../foundation/json/json.ts'
import type { MadeLinks } from '../validate/linked-records.ts'
import { parseBranchLink } from '../validate/fixed-attributes.ts'
import type { RecordAddress, Written } from '../validate/written.ts'
import { ChangeValidator } from '../validate/validate-change.ts'
import type { Writer } from './writer.ts'

const BY_STATEMENTS = 'by statements of a plan'

const loadRefusals = () => import('./explain-refused.ts')

type Refusals = Awaited<ReturnType<typeof loadRefusals>>

const loadWays = () => import('../statements/explain-way.ts')

type Why = (explain: Awaited<ReturnType<typeof loadWays>>['explainUnplanned']) => string

async function explainWay(why: Why): Promise<string> {
  const { explainUnplanned } = await loadWays()
  return `by MikroORM's unit of work, since ${why(explainUnplanned)}`
}

const loadUnitOfWork = () => import('../unit-of-work/entity-writer.ts')

type UnitOfWork = Awaited<ReturnType<typeof loadUnitOfWork>>
type EntityWriterClass = UnitOfWork['EntityWriter']
type EntityParts = ConstructorParameters<EntityWriterClass>[1]
type Steps<T> = (writer: InstanceType<EntityWriterClass>) => Coroutine<T>

/** Loaded by the first write beyond statements. */
let unitOfWork: UnitOfWork | undefined

export class RecordWriter implements Writer {
  readonly #connection: Connection
  readonly #model: Model
  readonly #validator: ChangeValidator
  readonly #reader: Reader
  readonly #inserter: RecordInserter
  readonly #changer: RecordChanger
  readonly #removal: PlannedRemoval
  readonly #traits: ModelTraits
  readonly #entityParts: EntityParts

  constructor(connection: Connection, reader: Reader, model: Model) {
    this.#connection = connection
    this.#model = model
    this.#validator = new ChangeValidator(connection, reader)
    const versions = new VersionReader(connection)
    const shapes = new RowShapes(connection)
    this.#reader = reader
    this.#inserter = new RecordInserter(connection, reader, this.#validator, versions, shapes)
    this.#changer = new RecordChanger(connection, reader, this.#validator, versions, shapes)
    this.#removal = new PlannedRemoval(connection, reader, versions)
    this.#traits = traitsOf(model)
    const addFills: EntityParts['addFills'] = (body, resource, mode, view) => this.filled(body, resource, mode, view)
    this.#entityParts = { connection, reader, validator: this.#validator, traits: this.#traits, addFills }
  }

  create(resource: Resource, body: unknown, view: View): Awaitable<Written> {
    if (!isObject(body)) throw notAnObject(body, `of the attributes of the new ${resource.singular}`)
    const why: Why = explain => explain(resource, 'insert', body, this.#connection)
    return this.#write(this.#inserter.insert(resource, body, view), writer => writer.create(resource, body), view, why)
  }

  createAll(resource: Resource, bodies: readonly unknown[], view: View): Awaitable<readonly Written[] | undefined> {
    const planned = this.#traits.renders ? undefined : this.#inserter.insertAll(resource, bodies, view)
    if (planned === undefined) return undefined
    // Records created singly may be more than a list may show.
    const mayBeOfOne = (error: unknown): boolean =>
      this.#isRefusedRow(error) || (error instanceof RestError && error.code === 'limit_exceeded')
    const refuse = (error: unknown): Awaitable<undefined> => (mayBeOfOne(error) ? undefined : this.#throwTranslated(error))
    return chain(this.#runPlanned(planned, view, refuse), written => {
      if (written !== undefined && view.trace?.statements !== undefined) view.trace.ways.push(BY_STATEMENTS)
      return written
    })
  }

  append(owner: RecordAddress, attribute: ToManyAttribute, body: unknown, view: View): Awaitable<Written> {
    if (!isObject(body)) throw notAnObject(body, `of the attributes of the new ${attribute.target.singular}`)
    const planned = this.#inserter.append(owner, attribute, body, view)
    const why: Why = explain => explain(attribute.target, 'insert', body, this.#connection)
    return this.#write(planned, writer => writer.append(owner, attribute, body), view, why)
  }

  update(address: RecordAddress, body: unknown, view: View): Awaitable<Written> {
    if (!isObject(body)) throw notAnObject(body, `of the attributes to change`)
    return this.change(address, body, view)
  }

  updateAttribute(address: RecordAddress, attribute: Attribute, body: unknown, view: View): Awaitable<Written> {
    checkAttributeBody(attribute, body)
    if (attribute.kind === 'toOne' && isObject(body) && !attribute.target.readOnly) return this.changeLinked(address, attribute, body, view)
    if (attribute.kind === 'toOneOf' && isObject(body) && parseBranchLink(attribute, body) === undefined)
      return this.changeOneOf(address, attribute, body, view)
    return this.change(address, { [attribute.name]: body }, view)
  }

  give(address: RecordAddress, body: JsonObject, view: View): Awaitable<Written> {
    return this.change(address, giveBody(body), view)
  }

  protected change(address: RecordAddress, body: JsonObject, view: View): Awaitable<Written> {
    const why: Why = explain => explain(address.resource, 'update', body, this.#connection)
    return this.#write(this.#changer.update(address, body, view), writer => writer.update(address, body), view, why)
  }

  /** Where no record is linked, or the object names another type, creates a record. */
  protected changeOneOf(address: RecordAddress, attribute: ToOneOfAttribute, body: JsonObject, view: View): Awaitable<Written> {
    const why = (): string => `"${attribute.name}" is a link to one of several entities`
    return this.#write(undefined, writer => writer.updateOneOf(address, attribute, body), view, why)
  }

  // oxlint-disable-next-line require-yield -- a writer whose records are filled waits
  protected *filled(body: JsonObject, _resource: Resource, _mode: FillMode, _view: View): Coroutine<JsonObject> {
    return body
  }

  /** Where no record is linked, creates a record. */
  protected changeLinked(address: RecordAddress, attribute: ToOneAttribute, body: JsonObject, view: View): Awaitable<Written> {
    const planned = this.#changer.updateLinked(address, attribute, body, view)
    const create = (why: Why): Awaitable<Written> =>
      this.#write(undefined, writer => writer.updateLinked(address, attribute, body), view, why)
    if (planned === undefined) return create(explain => explain(attribute.target, 'update', body, this.#connection))
    return chain(this.#runPlanned(planned, view), written => {
      if (written === undefined) return create(() => `"${attribute.name}" is empty, and gets a new ${attribute.target.singular}`)
      if (view.trace?.statements !== undefined) view.trace.ways.push(BY_STATEMENTS)
      return written
    })
  }

  delete(address: RecordAddress, view: View): Awaitable<Written> {
    const why: Why = explain => explain(address.resource, 'delete', undefined, this.#connection)
    return this.#write(this.#removal.remove(address, view), writer => writer.delete(address), view, why)
  }

  deleteLinked(address: RecordAddress, relation: ToOneAttribute | ToOneOfAttribute, view: View): Awaitable<Written> {
    const why = (): string => `the record that "${relation.name}" links is removed with the link`
    return this.#write(undefined, writer => writer.deleteLinked(address, relation), view, why)
  }

  deleteRelated(address: RecordAddress, attribute: ToManyAttribute, view: View): Awaitable<readonly JsonRecord[]> {
    const why: Why = explain => explain(attribute.target, 'delete', undefined, this.#connection)
    const planned = this.#removal.removeRelated(address, attribute, view)
    return this.#write(planned, writer => writer.deleteRelated(address, attribute), view, why)
  }

  isRepeatable({ visibility }: View): boolean {
    return visibility === EVERYTHING && !this.#traits.renders
  }

  #write<T>(planned: PlannedWrite<T> | undefined, steps: Steps<T>, view: View, why: Why): Awaitable<T> {
    const { trace } = view
    if (trace?.statements !== undefined) trace.ways.push(planned === undefined ? explainWay(why) : BY_STATEMENTS)
    return planned === undefined ? this.#transaction(steps, view) : this.#runPlanned(planned, view)
  }

  /** @param refuse default: `#refuse` */
  #runPlanned<T>(planned: PlannedWrite<T>, view: View, refuse?: (error: unknown) => Awaitable<T>, again = false): Awaitable<T> {
    const { trace, end, ctx } = view
    const before = trace?.enter('write')
    const work = (): Awaitable<T> => {
      end?.throwIfReached()
      return runCoroutine(planned.run(again))
    }
    let running: Awaitable<T>
    try {
      running = this.#connection.transact(work, end, this.isRepeatable(view), ctx)
    } catch (error) {
      return refuse === undefined ? this.#refuse(error, planned, view) : refuse(error)
    }
    if (running instanceof Promise) return leaveWriting(running, before, refuse ?? (error => this.#refuse(error, planned, view)), view)
    if (before !== undefined) trace?.enter(before)
    return running
  }

  /** Throws errors of validation, if any, else the database's error. */
  #refuse<T>(error: unknown, planned: PlannedWrite<T>, view: View): Awaitable<T> {
    const { given } = planned
    if (given === undefined || !this.#isRefusedRow(error)) return this.#throwTranslated(error)
    const explain = ({ explainRefused, mayPass }: Refusals): Awaitable<T> => {
      const validate = (): Awaitable<MadeLinks> => runCoroutine(explainRefused(given, planned, this.#validator, this.#reader))
      return chain(this.#connection.transact(validate, view.end, false, view.ctx), made => {
        if (!mayPass(error, this.#connection.dialect)) return this.#throwTranslated(error, made)
        return this.#runPlanned(planned, view, other => this.#throwTranslated(other, made), true)
      })
    }
    return keepSurroundings(() => chain(loadRefusals(), explain))
  }

  /** A server leaves out rows with taken values, as triggers do. */
  #isRefusedRow(error: unknown): boolean {
    return this.#connection.dialect.breaksConstraint(error) || (error instanceof RestError && error.code === 'statement_dropped')
  }

  #transaction<T>(steps: Steps<T>, view: View): Awaitable<T> {
    if (unitOfWork === undefined) return chain(this.#loadUnitOfWork(), () => this.#transaction(steps, view))
    const { EntityWriter } = unitOfWork
    let writer: InstanceType<typeof EntityWriter> | undefined
    const work = (em: EntityManager): Awaitable<T> => {
      writer = new EntityWriter(em, this.#entityParts, view)
      return runCoroutine(writer.run(steps))
    }
    const before = view.trace?.enter('write')
    const running = this.#connection.write(work, view.end, this.isRepeatable(view), view.ctx)
    return leaveWriting(running, before, error => this.#throwTranslated(error, writer?.work), view)
  }

  async #loadUnitOfWork(): Promise<void> {
    unitOfWork = await loadUnitOfWork()
  }

  #throwTranslated(error: unknown, work?: MadeLinks): Awaitable<never> {
    if (error instanceof RestError) throw error
    return this.#translate(error, work)
  }

  async #translate(error: unknown, work: MadeLinks | undefined): Promise<never> {
    const { translateDatabaseError } = await import('../unit-of-work/database-errors.ts')
    throw translateDatabaseError(error, { dialect: this.#connection.dialect, model: this.#model, ...(work && { work }) })
  }
}

/** @param before the stage of the trace before the write */
function leaveWriting<T>(
  running: Promise<T>,
  before: ReturnType<Trace['enter']> | undefined,
  refuse: (error: unknown) => Awaitable<T>,
  { trace }: View,
): Promise<T> {
  const succeed = (result: T): T => {
    if (before !== undefined) trace?.enter(before)
    return result
  }
  return running.then(bindSurroundings(succeed), bindSurroundings(refuse))
}
