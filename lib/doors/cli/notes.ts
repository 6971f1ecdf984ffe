/** Formats the engine's notes, printed when the command starts. */
import type { RestEngine } from '../../engine.ts'
import { escapeControls } from './explanation-text.ts'

const SHOWN = 20

/** Without notes that are printed elsewhere: steps of an evolution, and notes on copies of a trial or a watched file. */
export function formatNotes({ notes: all }: RestEngine): string[] {
  const notes = all.filter(note => !/^Evolved: |[/\\]mikro-rest-(?:trial|watch)-/.test(note))
  const others = notes.length > SHOWN ? [`and ${notes.length - SHOWN} more (engine.notes)`] : []
  return [...notes.slice(0, SHOWN).map(note => `Note: ${escapeControls(note)}`), ...others]
}
