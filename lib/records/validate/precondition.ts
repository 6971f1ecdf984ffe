/**
 * Precondition: compares `If-Match` and `If-None-Match` of a request that changes a record (RFC 9110 sections 13.1.1 and 13.1.2) with the
 * version of the record. Answers with the record carry the same tags. Refuses with precondition_failed.
 */
import { withArticle } from '../../foundation/base/article.ts'
import { restError } from '../../foundation/errors/errors.ts'
import type { Resource } from '../../model/model.ts'
import { fromProperty, formatScalar } from '../../foundation/values/scalar-type.ts'

/** Returns the entity tag of a version. */
export function formatTag(version: string | number): string {
  return `"${version}"`
}

/** Parses the tags of a header: `*`, or a list of weak or strong tags. */
export function parseTags(header: string): readonly string[] {
  return header.trim() === '*' ? ['*'] : (header.match(/(?:W\/)?"[^"]*"/g) ?? [])
}

/** Whether two tags are the same by the weak comparison, which ignores whether they are marked as weak (RFC 9110 section 8.8.3.2). */
export function isSameTag(one: string, other: string): boolean {
  return one.replace(/^W\//, '') === other.replace(/^W\//, '')
}

/** Returns the part of a tag that names the version: with the option `etag: 'answer'` that of the content follows it. */
function readVersion(tag: string): string {
  const end = tag.indexOf(';')
  return end < 0 ? tag : `${tag.slice(0, end)}"`
}

/** Refuses a change of an existing record, unless the headers allow it. */
export function checkPrecondition(
  headers: Readonly<Record<string, string>>,
  resource: Resource,
  entity: Readonly<Record<string, unknown>>,
): void {
  const [must, mustNot] = [headers['if-match'], headers['if-none-match']]
  if (must === undefined && mustNot === undefined) return
  const { version } = resource
  const value = version === undefined ? undefined : formatScalar(fromProperty(entity[version.property], version.type), version.type)
  const tag = value === undefined ? undefined : formatTag(value as string | number)
  const isAmong = (header: string): boolean => parseTags(header).some(given => given === '*' || readVersion(given) === tag)
  if (must !== undefined && !isAmong(must)) {
    const why = tag === undefined ? `${withArticle(resource.singular)} has no version` : `its tag is ${tag}`
    throw restError('precondition_failed', `The ${resource.singular} is not the one that "If-Match" names: ${why}.`, {
      headers: tag === undefined ? {} : { etag: tag },
    })
  }
  // Weak comparison ignores whether a tag is marked as weak.
  if (mustNot !== undefined && isAmong(mustNot.replaceAll('W/', ''))) {
    throw restError('precondition_failed', `"If-None-Match" names the ${resource.singular} that is there.`)
  }
}
