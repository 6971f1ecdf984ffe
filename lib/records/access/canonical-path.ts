/**
 * Canonical path: with the option `canonicalPaths`, a path must be spelled like links, so that a guard in front of the engine cannot be
 * passed by another spelling (a singular, needless percent-encoding). Refuses with path_unknown.
 */
import { restError } from '../../foundation/base/errors.ts'
import { idToSegment } from '../../model/key.ts'
import { formatRoot } from '../request/address.ts'
import type { Request } from '../request/parse-request.ts'
import { isOpen } from '../plan/visibility.ts'
import type { ResourceLookup, Target } from './resolve-path.ts'

export function requireCanonical({ base, segments }: Request, target: Target, version: string, lookUp: ResourceLookup): void {
  if (target.kind === 'index' || target.kind === 'own') return
  const { resource } = target
  const [, name = '', ...rest] = segments
  // The application's look-up may not know the plural.
  const called = lookUp(resource.plural, version) === resource ? resource.plural : decodeURIComponent(name)
  const isAlone = resource.rules.single !== undefined
  const id = isAlone || target.kind === 'collection' ? [] : [idToSegment(target.key, resource)]
  const attribute =
    target.kind === 'attribute' || target.kind === 'member' ? [target.attribute] : target.kind === 'mark' ? [target.mark] : []
  const member = target.kind === 'member' ? [idToSegment(target.member.key, target.member.resource)] : []
  const wanted = [encodeURIComponent(called), ...id, ...attribute.map(({ name: own }) => encodeURIComponent(own)), ...member]
  const given = [name, ...rest]
  if (given.length === wanted.length && given.every((segment, index) => isSpelled(segment, wanted[index]!))) return
  const hint = isOpen(resource) ? `: write ${formatRoot(base, version)}/${wanted.join('/')}` : ''
  throw restError('path_unknown', `Paths are served in one spelling each${hint}.`)
}

/** A character that needs no encoding may be sent plain: `a@b.example` is as good as `a%40b.example`. */
function isSpelled(segment: string, wanted: string): boolean {
  return segment === wanted || (!segment.includes('%') && segment === decodeURIComponent(wanted))
}
