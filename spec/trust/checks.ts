/** The checks of `npm run trust`, in the order of its table. */
import { crashes } from './crashes.ts'
import { growth } from './growth.ts'
import { hostile } from './hostile.ts'
import { requests } from './requests.ts'
import type { Check } from './tally.ts'
import { tenants } from './tenants.ts'
import { tokens } from './tokens.ts'

export const CHECKS: readonly Check[] = [crashes, requests, tenants, tokens, hostile, growth]
