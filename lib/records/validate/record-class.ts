/** Record class: the class a body asks for, and the attributes of a class, where several classes share a resource. */
import type { JsonObject } from '../../foundation/json/json.ts'
import type { Attribute, Resource } from '../../model/model.ts'

/** Returns the class of the discriminator in a body; the resource itself without a known class. */
export function findAskedClass(resource: Resource, body: JsonObject): Resource {
  const { hierarchy } = resource
  if (hierarchy?.attribute === undefined) return resource
  const value = body[hierarchy.attribute]
  return (typeof value === 'string' || typeof value === 'number' ? hierarchy.byValue.get(String(value)) : undefined) ?? resource
}

/** Whether records of exactly the resource's class have the attribute. */
export function isOfClass({ classValues }: Attribute, { hierarchy }: Resource): boolean {
  return classValues === undefined || (hierarchy?.classValue !== undefined && classValues.has(hierarchy.classValue))
}
