/** The class of a record, where several classes share a resource: which one a body asks for, and which attributes it has. */
import type { JsonObject } from '../../foundation/json/json.ts'
import type { Attribute, Resource } from '../../model/model.ts'

/** Returns the class that the discriminator in a body names; without a known one, the resource itself. */
export function findAskedClass(resource: Resource, body: JsonObject): Resource {
  const { hierarchy } = resource
  if (hierarchy?.attribute === undefined) return resource
  const value = body[hierarchy.attribute]
  return (typeof value === 'string' || typeof value === 'number' ? hierarchy.byValue.get(String(value)) : undefined) ?? resource
}

/** Whether records of the very class of the resource have the attribute. */
export function isOfClass({ classValues }: Attribute, { hierarchy }: Resource): boolean {
  return classValues === undefined || (hierarchy?.classValue !== undefined && classValues.has(hierarchy.classValue))
}
