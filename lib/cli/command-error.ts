/** Command error: what ends the command with one line on standard error and an exit code. */

/** The command was called wrongly (exit code 2), or cannot do what it was asked to (1). */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  readonly exitCode: 1 | 2

  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message)
    this.exitCode = exitCode
  }
}

/** The text of anything thrown, in one line. */
export function oneLine(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : String(error)
  return text.replaceAll(/\s+/g, ' ').trim()
}
