/** The error that ends the command with one line on standard error and an exit code. */
import { escapeControls } from './explanation-text.ts'

/** A wrong command line (exit code 2), or a command that cannot be carried out (1). */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  readonly exitCode: 1 | 2

  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message)
    this.exitCode = exitCode
  }
}

/** A usage error. */
export function misuse(text: string): CommandError {
  return new CommandError(text, 2)
}

/** Formats any thrown value in one line. It may name what a file holds. */
export function oneLine(error: unknown): string {
  return escapeControls(error instanceof Error ? error.message || error.name : String(error)).trim()
}
