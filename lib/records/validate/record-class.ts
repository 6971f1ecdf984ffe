/** Record class: where several classes share a resource. */
import type { JsonObject } from '../../foundation/json/json.ts'
import type { Attribute, Resource } from '../../model/model.ts'

/** Without a known class, the resource. */
export function findAskedClass(resource: Resource, body: JsonObject): Resource {
  const { hierarchy } = resource
  if (hierarchy?.attribute === undefined) return resource
  const value = body[hierarchy.attribute]
  return (typeof value === 'string' || typeof value === 'number' ? hierarchy.byValue.get(String(value)) : undefined) ?? resource
}

/** Records of exactly this class have the attribute. */
export function isOfClass({ classValues }: Attribute, { hierarchy }: Resource): boolean {
  return classValues === undefined || (hierarchy?.classValue !== undefined && classValues.has(hierarchy.classValue))
}
