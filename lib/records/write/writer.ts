/** Writer: writes by statements where statements can, else by the unit of work, in one transaction. */
import { type EntityManager } from '@mikro-orm/core'
import { chain, runCoroutine, type Awaitable, type Coroutine } from '../../foundation/async/awaitable.ts'
import type { Connection } from '../database/connection.ts'
import type { Attribute, Model, Resource, ToManyAttribute, ToOneAttribute, ToOneOfAttribute } from '../../model/model.ts'
import { EVERYTHING } from '../plan/visibility.ts'
import type { Reader, View } from '../read/reader.ts'
import type { JsonRecord } from '../read/run-read.ts'
import { checkAttributeBody } from '../validate/check-attribute-body.ts'
import { BY_STATEMENTS, byUnitOfWork, explainUnplanned } from '../statements/explain-way.ts'
import { giveBody, type FillMode } from '../validate/fill-body.ts'
import { FlatBulk } from '../statements/flat-bulk.ts'
import { FlatWriter } from '../statements/flat-writer.ts'
import type { MadeValues } from '../statements/made-values.ts'
import { traitsOf, type ModelTraits } from '../validate/model-traits.ts'
import { PlannedRemoval } from '../statements/planned-removal.ts'
import type { PlannedWrite } from '../statements/planned-write.ts'
import { PlannedWriter } from '../statements/planned-writer.ts'
import { VersionReader } from '../validate/read-version.ts'
import { RowShapes } from '../statements/row-shapes.ts'
import { isObject, type JsonObject } from '../../foundation/json/json.ts'
import { parseBranchLink } from '../validate/fixed-attributes.ts'
import { notAnObject } from '../validate/validate-record.ts'
import type { RecordAddress, Written } from '../validate/written.ts'
import { runTranslated, type Refusing } from './run-translated.ts'
import { ChangeValidator } from '../validate/validate-change.ts'

const loadUnitOfWork = () => import('../unit-of-work/entity-writer.ts')

type UnitOfWork = Awaited<ReturnType<typeof loadUnitOfWork>>
type EntityWriterClass = UnitOfWork['EntityWriter']
type EntityParts = ConstructorParameters<EntityWriterClass>[1]
type Touching = InstanceType<EntityWriterClass>['work']
type Steps<T> = (writer: InstanceType<EntityWriterClass>) => Coroutine<T>

/** Loaded by the first write that statements cannot do. */
let unitOfWork: UnitOfWork | undefined

export class Writer {
  readonly #connection: Connection
  readonly #model: Model
  readonly #validator: ChangeValidator
  readonly #flat: FlatWriter
  readonly #bulk: FlatBulk
  readonly #planned: PlannedWriter
  readonly #removal: PlannedRemoval
  readonly #traits: ModelTraits
  readonly #entityParts: EntityParts
  readonly #refusing: Refusing

  constructor(connection: Connection, reader: Reader, model: Model) {
    this.#connection = connection
    this.#model = model
    this.#validator = new ChangeValidator(connection, reader)
    const versions = new VersionReader(connection)
    const shapes = new RowShapes(connection)
    this.#flat = new FlatWriter(connection, reader, this.#validator, versions, shapes)
    this.#bulk = new FlatBulk(connection, reader, shapes)
    this.#planned = new PlannedWriter(connection, reader, this.#validator, versions)
    this.#removal = new PlannedRemoval(connection, reader, versions)
    this.#traits = traitsOf(model)
    const addFills: EntityParts['addFills'] = (body, resource, mode, view) => this.filled(body, resource, mode, view)
    this.#entityParts = { connection, reader, validator: this.#validator, traits: this.#traits, addFills }
    this.#refusing = { dialect: connection.dialect, translate: error => this.#translate(error) }
  }

  /** POST of a collection. */
  create(resource: Resource, body: unknown, view: View): Awaitable<Written> {
    if (!isObject(body)) throw notAnObject(body, `of the attributes of the new ${resource.singular}`)
    const planned = this.#flat.insert(resource, body, view) ?? this.#planned.insert(resource, body, view)
    const why = (): string => explainUnplanned(resource, 'insert', body, this.#connection)
    return this.#write(planned, writer => writer.create(resource, body), view, why)
  }

  /** POST of an array, by shared statements. Undefined, with nothing written: create the records one by one. */
  createAll(resource: Resource, bodies: readonly unknown[], view: View): Awaitable<readonly Written[] | undefined> {
    const planned = this.#traits.renders ? undefined : this.#bulk.insert(resource, bodies, view)
    if (planned === undefined) return undefined
    return chain(
      this.#runPlanned<readonly Written[] | undefined>(planned, view, () => undefined),
      written => {
        if (written !== undefined && view.trace?.statements !== undefined) view.trace.ways.push(BY_STATEMENTS)
        return written
      },
    )
  }

  /** POST of a list attribute. */
  append(owner: RecordAddress, attribute: ToManyAttribute, body: unknown, view: View): Awaitable<Written> {
    if (!isObject(body)) throw notAnObject(body, `of the attributes of the new ${attribute.target.singular}`)
    const planned = this.#flat.append(owner, attribute, body, view) ?? this.#planned.append(owner, attribute, body, view)
    const why = (): string => explainUnplanned(attribute.target, 'insert', body, this.#connection)
    return this.#write(planned, writer => writer.append(owner, attribute, body), view, why)
  }

  /** PUT and PATCH of a record. */
  update(address: RecordAddress, body: unknown, view: View): Awaitable<Written> {
    if (!isObject(body)) throw notAnObject(body, `of the attributes to change`)
    return this.change(address, body, view)
  }

  /** PUT and PATCH of an attribute. */
  updateAttribute(address: RecordAddress, attribute: Attribute, body: unknown, view: View): Awaitable<Written> {
    checkAttributeBody(attribute, body)
    if (attribute.kind === 'toOne' && isObject(body) && !attribute.target.readOnly) return this.changeLinked(address, attribute, body, view)
    if (attribute.kind === 'toOneOf' && isObject(body) && parseBranchLink(attribute, body) === undefined)
      return this.changeOneOf(address, attribute, body, view)
    return this.change(address, { [attribute.name]: body }, view)
  }

  protected change(address: RecordAddress, body: JsonObject, view: View): Awaitable<Written> {
    return this.#changeBy(address, body, view)
  }

  /** The engine may change attributes closed to clients. */
  give(address: RecordAddress, body: JsonObject, view: View): Awaitable<Written> {
    return this.#changeBy(address, giveBody(body), view)
  }

  #changeBy(address: RecordAddress, body: JsonObject, view: View): Awaitable<Written> {
    const planned = this.#flat.update(address, body, view) ?? this.#planned.update(address, body, view)
    const why = (): string => explainUnplanned(address.resource, 'update', body, this.#connection)
    return this.#write(planned, writer => writer.update(address, body), view, why)
  }

  /** Changes the linked record; where none is linked, or the object names another type, creates and links one. */
  protected changeOneOf(address: RecordAddress, attribute: ToOneOfAttribute, body: JsonObject, view: View): Awaitable<Written> {
    const why = (): string => `"${attribute.name}" is a link to one of several entities`
    return this.#write(undefined, writer => writer.updateOneOf(address, attribute, body), view, why)
  }

  // oxlint-disable-next-line require-yield -- a writer whose records are filled waits
  protected *filled(body: JsonObject, _resource: Resource, _mode: FillMode, _view: View): Coroutine<JsonObject> {
    return body
  }

  /** Creates and links a record where none is linked. */
  protected changeLinked(address: RecordAddress, attribute: ToOneAttribute, body: JsonObject, view: View): Awaitable<Written> {
    const planned = this.#planned.updateLinked(address, attribute, body, view)
    const why = (): string => explainUnplanned(attribute.target, 'update', body, this.#connection)
    return this.#write(planned, writer => writer.updateLinked(address, attribute, body), view, why)
  }

  /** DELETE of a record; returns the former record. */
  delete(address: RecordAddress, view: View): Awaitable<Written> {
    const why = (): string => explainUnplanned(address.resource, 'delete', undefined, this.#connection)
    return this.#write(this.#removal.remove(address, view), writer => writer.delete(address), view, why)
  }

  /** DELETE of a to-one: removes the record, and the link. */
  deleteLinked(address: RecordAddress, relation: ToOneAttribute | ToOneOfAttribute, view: View): Awaitable<Written> {
    const why = (): string => `the record that "${relation.name}" links is removed with the link`
    return this.#write(undefined, writer => writer.deleteLinked(address, relation), view, why)
  }

  /** DELETE of a list, within the filters; returns the former records. */
  deleteRelated(address: RecordAddress, attribute: ToManyAttribute, view: View): Awaitable<readonly JsonRecord[]> {
    const why = (): string => explainUnplanned(attribute.target, 'delete', undefined, this.#connection)
    const planned = this.#removal.removeRelated(address, attribute, view)
    return this.#write(planned, writer => writer.deleteRelated(address, attribute), view, why)
  }

  /** Whether a write may begin again: functions of the application are called once for a request. */
  isRepeatable({ visibility }: View): boolean {
    return visibility === EVERYTHING && !this.#traits.renders
  }

  /**
   * The unit of work also writes where the statements are not enough.
   *
   * @param why reason for the missing plan, for `engine.explain`
   */
  #write<T>(planned: PlannedWrite<T> | undefined, steps: Steps<T>, view: View, why: () => string): Awaitable<T> {
    const { trace } = view
    if (trace?.statements !== undefined) trace.ways.push(planned === undefined ? byUnitOfWork(why()) : BY_STATEMENTS)
    if (planned === undefined) return this.#transaction(steps, view)
    const otherwise = (): Awaitable<T> => {
      if (trace?.statements !== undefined)
        trace.ways.push(byUnitOfWork('the statements of the plan were not enough, and have been taken back'))
      return this.#transaction(steps, view, planned.values)
    }
    return this.#runPlanned(planned, view, otherwise)
  }

  /** @param otherwise called where the statements are not enough, with nothing written */
  #runPlanned<T>({ values, isWide, run }: PlannedWrite<T>, view: View, otherwise: () => Awaitable<T>): Awaitable<T> {
    const { end, ctx } = view
    const work = (): Awaitable<T | undefined> => {
      values?.begin()
      end?.throwIfReached()
      return runCoroutine(run())
    }
    const transact = (): Awaitable<T | undefined> => this.#connection.transact(work, end, this.isRepeatable(view), ctx)
    return runTranslated(transact, this.#refusing, view.trace, otherwise, isWide)
  }

  #transaction<T>(steps: Steps<T>, view: View, values?: MadeValues): Awaitable<T> {
    if (unitOfWork === undefined) return chain(this.#loadUnitOfWork(), () => this.#transaction(steps, view, values))
    const { EntityWriter } = unitOfWork
    let writer: InstanceType<typeof EntityWriter> | undefined
    const work = (em: EntityManager): Awaitable<T> => {
      values?.beginIn(em)
      writer = new EntityWriter(em, this.#entityParts, view)
      return runCoroutine(writer.run(steps))
    }
    const transact = (): Awaitable<T> => this.#connection.write(work, view.end, this.isRepeatable(view), view.ctx)
    const { dialect } = this.#connection
    return runTranslated(transact, { dialect, translate: error => this.#translate(error, writer?.work) }, view.trace)
  }

  async #loadUnitOfWork(): Promise<void> {
    unitOfWork = await loadUnitOfWork()
  }

  async #translate(error: unknown, work?: Touching): Promise<unknown> {
    const { translateDatabaseError } = await import('../unit-of-work/database-errors.ts')
    const { dialect } = this.#connection
    return translateDatabaseError(error, { dialect, model: this.#model, ...(work && { work }) })
  }
}
