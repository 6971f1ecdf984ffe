/** Unbound value: a function's `raw('now()')`. */
export class UnboundValue {
  readonly value: unknown

  constructor(value: unknown) {
    this.value = value
  }
}
