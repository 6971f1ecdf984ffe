/** Ends the command with one line on standard error. */
import { escapeControls } from './explanation-text.ts'

/** Exit code 2: a wrong command line. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  readonly exitCode: 1 | 2

  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message)
    this.exitCode = exitCode
  }
}

export function misuse(text: string): CommandError {
  return new CommandError(text, 2)
}

/** Escapes control characters: the text may come from a file. */
export function oneLine(error: unknown): string {
  return escapeControls(error instanceof Error ? error.message || error.name : String(error)).trim()
}
