/** Finds the class of a record by the body, where several classes share a resource: `{ "type": "car" }`. */
import type { JsonObject } from '../../foundation/json/json.ts'
import type { Attribute, Resource } from '../../model/model.ts'

/** The class named by a new record's body, else the resource. */
export function findAskedClass(resource: Resource, body: JsonObject): Resource {
  const { hierarchy } = resource
  if (hierarchy?.attribute === undefined) return resource
  const value = body[hierarchy.attribute]
  return (typeof value === 'string' || typeof value === 'number' ? hierarchy.byValue.get(String(value)) : undefined) ?? resource
}

export function isOfClass({ classValues }: Attribute, { hierarchy }: Resource): boolean {
  return classValues === undefined || (hierarchy?.classValue !== undefined && classValues.has(hierarchy.classValue))
}
