/** Formats the notes of an engine, as the command prints them. */
import type { RestEngine } from '../../engine.ts'
import { escapeControls } from './explanation-text.ts'

const SHOWN = 20

/**
 * Returns a line for each of the first notes, and one for the number of the others. The steps of an evolution were printed as its plan; the
 * copy of a trial, and of what is watched, goes away with it.
 */
export function formatNotes({ notes: all }: RestEngine): string[] {
  const notes = all.filter(note => !/^Evolved: |[/\\]mikro-rest-(?:trial|watch)-/.test(note))
  const others = notes.length > SHOWN ? [`and ${notes.length - SHOWN} more (engine.notes)`] : []
  return [...notes.slice(0, SHOWN).map(note => `Note: ${escapeControls(note)}`), ...others]
}
