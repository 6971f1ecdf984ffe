/** Sets text and caret of a field at once, before the reader presses another key. */
export function putText(field: HTMLInputElement | null, text: string, caret: number): void {
  if (field === null) return
  // Rendering the same text later keeps the caret.
  field.value = text
  field.setSelectionRange(caret, caret)
}
