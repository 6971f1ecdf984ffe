/** Start error: why the workbench could not read what is served. */
import { signal } from '@preact/signals'

export const startError = signal<Error | undefined>(undefined)
