/** Put text: gives a field a text and the place of its caret at once, so that the next key, however soon it comes, finds them. */
export function putText(field: HTMLInputElement | null, text: string, caret: number): void {
  if (field === null) return
  // What is drawn later is the same text, which leaves the caret where it is.
  field.value = text
  field.setSelectionRange(caret, caret)
}
