/** Remembers entities inferred from a JSON file. */
const inferred = new WeakMap<object, { readonly isExact: boolean }>()

/** @param isExact see `FromJsonOptions.exact` */
export function markInferred(entity: object, isExact: boolean): void {
  inferred.set(entity, { isExact })
}

export function isInferred(entity: object): boolean {
  return inferred.has(entity)
}

export function isExact(entity: object): boolean {
  return inferred.get(entity)?.isExact === true
}
