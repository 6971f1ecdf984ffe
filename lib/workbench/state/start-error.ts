/** Start error: why the outline could not be read. */
import { signal } from '@preact/signals'

export const startError = signal<Error | undefined>(undefined)
