/** Fill text: a value of `fill` as the command line has it, for a property of any type. */
export class FillText {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}
