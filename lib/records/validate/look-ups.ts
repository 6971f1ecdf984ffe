/** Compiles statements by which a write finds other records, once for each form of a scope, for all forks. */
import type { Dialect, Statement } from '../database/dialect.ts'
import type { Attribute, Resource, ToOneAttribute } from '../../model/model.ts'
import { EVERYTHING, notEvaluated, type Visibility } from '../plan/visibility.ts'
import { ScopedStatements } from './scoped-statements.ts'

type StatementsByShape = Map<string, Statement | undefined>

const statements = new WeakMap<Dialect, WeakMap<object, StatementsByShape>>()

export function lookForOne(resource: Resource, visibility: Visibility, dialect: Dialect): Statement {
  const compile = ({ scopeOf }: Visibility): Statement => dialect.exists(resource, scopeOf)
  return visibility.restricts(resource)
    ? findScoped('one', resource, visibility, dialect, compile)!
    : find(dialect, resource, 'one', () => compile(EVERYTHING))!
}

export function lookForSome(resource: Resource, visibility: Visibility, dialect: Dialect): Statement | undefined {
  const compile = ({ scopeOf }: Visibility): Statement | undefined => dialect.existing(resource, scopeOf)
  return visibility.restricts(resource)
    ? findScoped('some', resource, visibility, dialect, compile)
    : find(dialect, resource, 'some', () => compile(EVERYTHING))
}

const scoped = new WeakMap<Dialect, WeakMap<Resource, Map<string, ScopedStatements<Statement | undefined>>>>()

/** Throws where the scope has no answer yet: a look-up cannot wait. */
function findScoped(
  kind: string,
  resource: Resource,
  visibility: Visibility,
  dialect: Dialect,
  compile: (visibility: Visibility) => Statement | undefined,
): Statement | undefined {
  let places = scoped.get(dialect)
  if (places === undefined) scoped.set(dialect, (places = new WeakMap()))
  let kinds = places.get(resource)
  if (kinds === undefined) places.set(resource, (kinds = new Map()))
  let known = kinds.get(kind)
  if (known === undefined) kinds.set(kind, (known = new ScopedStatements()))
  const statement = known.find(resource, visibility, compile)
  if (statement instanceof Promise) throw notEvaluated(resource, 'scope')
  return statement
}

export function lookForTaken(
  resource: Resource,
  attributes: readonly { readonly attribute: Attribute; readonly given: boolean }[],
  excludeSelf: boolean,
  dialect: Dialect,
): Statement | undefined {
  let shape = excludeSelf ? 'other' : 'any'
  for (const { attribute, given } of attributes) shape += `\0${given ? '' : '='}${attribute.property}`
  // Attributes of embedded objects may share a name.
  return attributes.every(({ attribute }) => resource.byName.get(attribute.name) === attribute)
    ? find(dialect, resource, shape, () => dialect.taken(resource, attributes, excludeSelf))
    : dialect.taken(resource, attributes, excludeSelf)
}

export function lookForReferrers(resource: Resource, attribute: ToOneAttribute, dialect: Dialect): Statement {
  return find(dialect, attribute, resource.className, () => dialect.referrers(resource, attribute))!
}

/** Reads the version of a record; without a version, the key. */
export function lookForVersion(resource: Resource, dialect: Dialect): Statement {
  const { version, key } = resource
  const column = version?.source.kind === 'column' ? version.source.column : key[0]!.column
  return find(dialect, resource, 'version', () => dialect.columns(resource, [column]))!
}

export function lookForReferrersOfAll(resource: Resource, attribute: ToOneAttribute, dialect: Dialect): Statement | undefined {
  return find(dialect, attribute, `all ${resource.className}`, () => dialect.referrersOfAll(resource, attribute))
}

function find(dialect: Dialect, place: object, shape: string, compile: () => Statement | undefined): Statement | undefined {
  let places = statements.get(dialect)
  if (places === undefined) statements.set(dialect, (places = new WeakMap()))
  let known = places.get(place)
  if (known === undefined) places.set(place, (known = new Map()))
  if (!known.has(shape)) known.set(shape, compile())
  return known.get(shape)
}
