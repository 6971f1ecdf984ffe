/** Stands for a value no parameter can hold, such as `raw('now()')` from a function of the model. */
export class UnboundValue {
  /** While none is made, no statement is searched. */
  static areMade = false
  readonly value: unknown

  constructor(value: unknown) {
    this.value = value
    UnboundValue.areMade = true
  }
}
