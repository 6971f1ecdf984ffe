/** Unbound value: a function's `raw('now()')`. */
export class UnboundValue {
  /** Most models make none: their statements are not looked through. */
  static areMade = false
  readonly value: unknown

  constructor(value: unknown) {
    this.value = value
    UnboundValue.areMade = true
  }
}
