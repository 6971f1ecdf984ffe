/** Lists the members that cannot work with the engine's database or options, and why. */
import type { EngineParts } from './assemble.ts'

/** @returns reasons as sentences by member, and for `changes` in the journal */
export async function listUnavailable(parts: EngineParts): Promise<Readonly<Record<string, string>>> {
  const { authentication, shared, journal, recorder } = parts
  const { write, snapshot, restore, reset, fork } = await parts.world.unavailable()
  const reasons: Record<string, string | undefined> = {
    seed: write,
    given: write,
    snapshot,
    restore: restore ?? write,
    reset,
    fork,
    scenario: shared.scenarios.names.length === 0 ? 'the option "scenarios" names none' : (write ?? fork ?? restore),
    token: authentication === undefined ? 'the authentication module is off: switch it on with the option "auth"' : undefined,
    requests: journal === undefined ? 'no journal is kept: the option "journal" is 0' : undefined,
    changes: recorder.isRecording
      ? undefined
      : 'the database held tables before an engine first opened it: rows that change are not recorded',
  }
  return Object.fromEntries(
    Object.entries(reasons).flatMap(([name, reason]) => (reason === undefined ? [] : [[name, formatReason(reason)]])),
  )
}

export function formatReason(clause: string): string {
  const whole = clause.replace(/^it /, 'the database ')
  return `${whole.charAt(0).toUpperCase()}${whole.slice(1)}.`
}
