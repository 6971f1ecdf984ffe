/** Inferred entities: marks the classes of entities made of a JSON file. Records have the keys of the file. */
const inferred = new WeakSet<object>()

export function markInferred(entity: object): void {
  inferred.add(entity)
}

export function isInferred(entity: object): boolean {
  return inferred.has(entity)
}
