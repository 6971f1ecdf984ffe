/** Other grammar: the backends that `--as` names, and their wires. */
import type { Wire } from '../../foundation/base/wire.ts'
import { findNearest, formatHint } from '../../foundation/base/suggest.ts'
import { misuse } from './command-error.ts'
import { refuseOthers } from './option-values.ts'

const WIRES = {
  'json-server': async (): Promise<Wire> => (await import('../../wires/json-server/index.ts')).jsonServer(),
}
export type Grammar = keyof typeof WIRES

export function loadWire(name: Grammar): Promise<Wire> {
  return WIRES[name]()
}

export function toGrammar(name: string | undefined): Grammar | undefined {
  const names = Object.keys(WIRES) as Grammar[]
  const grammar = names.find(each => each === name)
  if (grammar !== undefined || name === undefined) return grammar
  throw misuse(`--as takes ${names.join(', ')}, got "${name}".${formatHint(findNearest(name, names))}`)
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
    '--login': login !== undefined,
  })
}
