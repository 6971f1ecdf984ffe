/** Unbound value: no parameter can hold the value, such as `raw('now()')` from a function of the model. */
export class UnboundValue {
  /** Most models make no such value: no statement is searched then. */
  static areMade = false
  readonly value: unknown

  constructor(value: unknown) {
    this.value = value
    UnboundValue.areMade = true
  }
}
