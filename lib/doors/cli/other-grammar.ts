/** The backends whose grammar `--as` serves, such as json-server, each with a wire. */
import type { Wire } from '../../foundation/base/wire.ts'
import type { Model } from '../../model/model.ts'
import { findNearest, formatHint } from '../../foundation/base/suggest.ts'
import { misuse } from './command-error.ts'
import { refuseOthers } from './option-values.ts'

interface OtherGrammar {
  readonly load: () => Promise<Wire>
  readonly root: string
}

const GRAMMARS = {
  'json-server': { root: '', load: async () => (await import('../../wires/json-server/index.ts')).jsonServer() },
  postgrest: { root: '', load: async () => (await import('../../wires/postgrest/index.ts')).postgrest() },
  supabase: { root: '/rest/v1', load: async () => (await import('../../wires/postgrest/index.ts')).supabase() },
} satisfies Readonly<Record<string, OtherGrammar>>
export type Grammar = keyof typeof GRAMMARS

export const GRAMMAR_NAMES = Object.keys(GRAMMARS) as readonly Grammar[]

export function loadWire(name: Grammar): Promise<Wire> {
  return GRAMMARS[name].load()
}

export function listPathsOf(name: Grammar, { resources }: Model, isFile: boolean): string[] {
  return resources.map(({ plural, table }) => `${GRAMMARS[name].root}/${isFile || name === 'json-server' ? plural : table}`)
}

export function toGrammar(name: string | undefined): Grammar | undefined {
  const grammar = GRAMMAR_NAMES.find(each => each === name)
  if (grammar !== undefined || name === undefined) return grammar
  throw misuse(`--as takes ${GRAMMAR_NAMES.join(', ')}, got "${name}".${formatHint(findNearest(name, GRAMMAR_NAMES))}`)
}

interface Served {
  readonly as: Grammar | undefined
  readonly openapi: string | undefined
  readonly diagram: string | undefined
  readonly eject: string | undefined
  readonly selfTest: boolean
  readonly check: string | undefined
  readonly login: unknown
}

export function checkGrammar({ as, openapi, diagram, eject, selfTest, check, login }: Served): void {
  if (as === undefined) return
  refuseOthers('--as serves the grammar of another backend', {
    '--openapi': openapi,
    '--diagram': diagram,
    '--eject': eject,
    '--self-test': selfTest,
    '--check': check,
    '--login': login !== undefined && as !== 'supabase',
  })
}
