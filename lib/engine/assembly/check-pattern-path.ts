/**
 * Refuses a fault or a public path with an unknown version, resource or attribute: a test whose failure never comes would pass for the
 * wrong reason. A star may stand for anything.
 */
import { formatHint, findNearest } from '../../foundation/base/suggest.ts'
import { findPathBelow, NO_VERSION, decodeSegment } from '../../records/request/address.ts'
import { describeReserved, DESCRIPTION, DOCS, TEST_CONTROLS, WORKBENCH } from '../../records/request/reserved-paths.ts'
import { listSessionNames } from '../../records/request/session-paths.ts'
import type { StageParts } from '../pipeline/arrival.ts'

type PathParts = Pick<StageParts, 'options' | 'served' | 'authentication'> & {
  readonly templates: readonly string[]
}

/** @throws TypeError for a pattern of `public` that no request can meet; paths are below the base */
export function checkPublicPath(match: string, where: string, parts: PathParts): void {
  const segments = match
    .slice(match.indexOf(' ') + 1)
    .split('/')
    .slice(1)
  const [first = ''] = segments
  const { versions } = parts.options
  if (first === '' || first.includes('*')) return
  if (versions.length > 0 && !versions.includes(first)) throw unknownVersion(match, where, first, parts)
  if (versions.length === 0 && !isKnown(first, NO_VERSION, 0, parts)) throw unknownResource(match, where, first, NO_VERSION, parts)
  if (versions.length === 0) checkAttribute(match, where, [NO_VERSION, ...segments], parts)
  else checkBelow(match, where, segments, parts)
}

export function checkFaultPath(match: string, where: string, parts: PathParts): void {
  const { base, versions } = parts.options
  const given = match.slice(match.indexOf(' ') + 1)
  const path = (base === '' ? undefined : findPathBelow(given, base)) ?? given
  if (!path.startsWith('/') || path === '/') return
  const segments = path.slice(1).split('/')
  if (versions.length === 0) {
    const isOpen = segments.some((segment, at) =>
      segment.includes('*') ? isFree(beforeStar(segment), at, parts) : isKnown(segment, NO_VERSION, at, parts),
    )
    if (!isOpen) throw unknownResource(match, where, beforeStar(segments[0]!), NO_VERSION, parts)
    return
  }
  const at = segments.findIndex(segment => segment.includes('*') || versions.includes(segment))
  const version = segments[at]
  if (version === undefined) {
    if (segments[0] === TEST_CONTROLS || segments[0] === DOCS) return
    throw unknownVersion(match, where, segments[0]!, parts)
  }
  checkBelow(match, where, segments.slice(at), parts)
}

function checkBelow(match: string, where: string, segments: readonly string[], parts: PathParts): void {
  const [version = '', name] = segments
  if (version.includes('*') || name === undefined || name === '') return
  if (name.includes('*')) {
    if (!mayBegin(beforeStar(name), version, 1, parts)) throw unknownResource(match, where, beforeStar(name), version, parts)
    return
  }
  if (!isKnown(name, version, 1, parts)) throw unknownResource(match, where, name, version, parts)
  checkAttribute(match, where, segments, parts)
}

function checkAttribute(
  match: string,
  where: string,
  [version, name, , attribute]: readonly string[],
  { served, templates }: PathParts,
): void {
  const resource = served.get(version!)!.lookUp(decodeSegment(name!), version!)
  if (resource === undefined || attribute === undefined || attribute === '' || attribute.includes('*')) return
  if (
    resource.byName.has(decodeSegment(attribute)) ||
    resource.marks.has(decodeSegment(attribute)) ||
    isOfRoute(attribute, version === NO_VERSION ? 2 : 3, templates)
  )
    return
  const meant = findNearest(decodeSegment(attribute), resource.byName.keys())
  throw refusal(
    match,
    where,
    `the attribute "${attribute}" of ${resource.plural}`,
    meant === undefined ? undefined : match.replace(`/${attribute}`, `/${meant}`),
  )
}

function unknownVersion(match: string, where: string, name: string, { options, served }: PathParts): TypeError {
  const [first = NO_VERSION] = options.versions
  const isResource = served.get(first)!.lookUp(decodeSegment(name), first) !== undefined
  const meant = isResource ? `${first}/${name}` : findNearest(name, options.versions)
  return refusal(match, where, `the version "${name}"`, meant === undefined ? undefined : match.replace(`/${name}`, `/${meant}`))
}

function unknownResource(match: string, where: string, name: string, version: string, { served }: PathParts): TypeError {
  const meant = findNearest(decodeSegment(name), served.get(version)!.model.byName.keys())
  return refusal(match, where, `the resource "${name}"`, meant === undefined ? undefined : match.replace(`/${name}`, `/${meant}`))
}

function isKnown(name: string, version: string, at: number, { served, authentication, templates }: PathParts): boolean {
  return (
    served.get(version)!.lookUp(decodeSegment(name), version) !== undefined ||
    name === DESCRIPTION ||
    describeReserved(name, authentication?.paths) !== undefined ||
    isOfRoute(name, at, templates)
  )
}

function beforeStar(segment: string): string {
  const star = segment.indexOf('*')
  return star < 0 ? segment : segment.slice(0, star)
}

/** A star may stand for the base of a way in, unless the text before is nearly the name of a resource. */
function isFree(start: string, at: number, parts: PathParts): boolean {
  return (
    mayBegin(start, NO_VERSION, at, parts) ||
    findNearest(decodeSegment(start), parts.served.get(NO_VERSION)!.model.byName.keys()) === undefined
  )
}

function mayBegin(start: string, version: string, at: number, { options, served, authentication, templates }: PathParts): boolean {
  if (start === '' || options.lookup !== undefined) return true
  const names = [
    ...served.get(version)!.model.byName.keys(),
    ...(authentication === undefined ? [] : listSessionNames(authentication.paths)),
    DESCRIPTION,
    DOCS,
    TEST_CONTROLS,
    WORKBENCH,
    ...templates.flatMap(template => template.slice(1).split('/')[at] ?? []),
  ]
  return names.some(name => name.startsWith(decodeSegment(start)) || name.startsWith('{'))
}

function isOfRoute(name: string, at: number, templates: readonly string[]): boolean {
  return templates.some(template => {
    const segment = template.slice(1).split('/')[at]
    return segment !== undefined && (segment === name || segment.startsWith('{'))
  })
}

function refusal(match: string, where: string, what: string, meant: string | undefined): TypeError {
  return new TypeError(`${where}: "${match}" can meet no request: ${what} is unknown.${formatHint(meant)}`)
}
