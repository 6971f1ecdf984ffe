/**
 * Compares `If-Match` and `If-None-Match` (RFC 9110 sections 13.1.1 and 13.1.2), or a version in the body, with the record's version.
 * Refuses with precondition_failed and version_conflict.
 */
import { withArticle } from '../../foundation/base/article.ts'
import { restError } from '../../foundation/errors/errors.ts'
import type { Resource } from '../../model/model.ts'
import { fromProperty, formatScalar } from '../../foundation/values/scalar-type.ts'
import type { Entity } from '../../model/entity-key.ts'
import type { RecordInput } from './record-input.ts'

export function formatTag(version: string | number): string {
  return `"${version}"`
}

export function parseTags(header: string): readonly string[] {
  return header.trim() === '*' ? ['*'] : (header.match(/(?:W\/)?"[^"]*"/g) ?? [])
}

/** Weak comparison ignores `W/` (RFC 9110 section 8.8.3.2). */
export function isSameTag(one: string, other: string): boolean {
  return one.replace(/^W\//, '') === other.replace(/^W\//, '')
}

/** With `etag: 'answer'`, the version of the content follows the record's, behind a semicolon. */
function readVersion(tag: string): string {
  const end = tag.indexOf(';')
  return end < 0 ? tag : `${tag.slice(0, end)}"`
}

export function checkPrecondition(
  headers: Readonly<Record<string, string>>,
  resource: Resource,
  entity: Readonly<Record<string, unknown>>,
): void {
  const [ifMatch, ifNoneMatch] = [headers['if-match'], headers['if-none-match']]
  if (ifMatch === undefined && ifNoneMatch === undefined) return
  const { version } = resource
  const value = version === undefined ? undefined : formatScalar(fromProperty(entity[version.property], version.type), version.type)
  const tag = value === undefined ? undefined : formatTag(value as string | number)
  const isAmong = (header: string): boolean => parseTags(header).some(given => given === '*' || readVersion(given) === tag)
  if (ifMatch !== undefined && !isAmong(ifMatch)) {
    const why = tag === undefined ? `${withArticle(resource.singular)} has no version` : `its tag is ${tag}`
    throw restError('precondition_failed', `The ${resource.singular} is not the one that "If-Match" names: ${why}.`, {
      headers: tag === undefined ? {} : { etag: tag },
    })
  }
  // `If-None-Match` compares weakly.
  if (ifNoneMatch !== undefined && isAmong(ifNoneMatch.replaceAll('W/', ''))) {
    throw restError('precondition_failed', `"If-None-Match" names the ${resource.singular} that is there.`)
  }
}

/** Refuses where the client has seen an older state (optimistic locking). */
export function checkVersion(entity: Entity, change: RecordInput): void {
  for (const { attribute, value } of change.values) {
    if (attribute.kind !== 'scalar' || !attribute.version) continue
    const current = entity[attribute.property]
    const now = current instanceof Date ? current.getTime() : current
    if (now !== value) {
      throw restError(
        'version_conflict',
        `The ${change.resource.singular} has changed meanwhile: its "${attribute.name}" is no longer ${String(value)}.`,
      )
    }
  }
}
