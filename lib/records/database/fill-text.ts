/** Fill text: a value of `fill` from the command line. */
export class FillText {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}
