/** Command error: ends the command with one line on standard error and an exit code. */
import { escapeControls } from './explanation-text.ts'

/** Exit code 2: a wrong command line; 1: a command that cannot be carried out. */
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

/** The value may name content of a file, so control characters are escaped. */
export function oneLine(error: unknown): string {
  return escapeControls(error instanceof Error ? error.message || error.name : String(error)).trim()
}
