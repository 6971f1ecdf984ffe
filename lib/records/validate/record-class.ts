/** Record class: finds the class of a record where several classes share a resource. */
import type { JsonObject } from '../../foundation/json/json.ts'
import type { Attribute, Resource } from '../../model/model.ts'

/** The class named by the body of a new record, else the resource. */
export function findAskedClass(resource: Resource, body: JsonObject): Resource {
  const { hierarchy } = resource
  if (hierarchy?.attribute === undefined) return resource
  const value = body[hierarchy.attribute]
  return (typeof value === 'string' || typeof value === 'number' ? hierarchy.byValue.get(String(value)) : undefined) ?? resource
}

export function isOfClass({ classValues }: Attribute, { hierarchy }: Resource): boolean {
  return classValues === undefined || (hierarchy?.classValue !== undefined && classValues.has(hierarchy.classValue))
}
