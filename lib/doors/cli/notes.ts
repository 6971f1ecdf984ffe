/** Formats the notes of an engine, as the command prints them. */
import type { RestEngine } from '../../engine.ts'
import { escapeControls } from './explanation-text.ts'

const SHOWN = 20

/** Returns a line for each of the first notes, and one for the number of the others. */
export function formatNotes({ notes }: RestEngine): string[] {
  const others = notes.length > SHOWN ? [`and ${notes.length - SHOWN} more (engine.notes)`] : []
  return [...notes.slice(0, SHOWN).map(note => `Note: ${escapeControls(note)}`), ...others]
}
