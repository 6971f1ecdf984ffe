/** A value of `fill` from the command line, which evolving reads by the column's type. */
export class FillText {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}
