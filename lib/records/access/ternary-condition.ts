/** Negates conditions as SQL does, where `not (age > 5)` does not hold for NULL. */
import type { Condition, Operand } from '../plan/read-plan.ts'

/** For NULL, neither is true: `$not` needs both. */
export interface TernaryCondition {
  readonly holds: Condition
  readonly fails: () => Condition
}

export function complement(of: Condition): Condition {
  return { kind: 'not', of }
}

export function isNull(operand: Operand): Condition {
  return { kind: 'null', operand }
}

export function unlessNull(holds: Condition, absent: () => Condition): TernaryCondition {
  return { holds, fails: () => ({ kind: 'all', of: [complement(holds), complement(absent())] }) }
}

export function certain(holds: Condition): TernaryCondition {
  return { holds, fails: () => complement(holds) }
}

export function not({ holds, fails }: TernaryCondition): TernaryCondition {
  return { holds: fails(), fails: () => holds }
}

export function all(of: readonly TernaryCondition[]): TernaryCondition {
  return of.length === 1
    ? of[0]!
    : { holds: { kind: 'all', of: of.map(part => part.holds) }, fails: () => ({ kind: 'any', of: of.map(part => part.fails()) }) }
}

export function any(of: readonly TernaryCondition[]): TernaryCondition {
  return of.length === 1
    ? of[0]!
    : { holds: { kind: 'any', of: of.map(part => part.holds) }, fails: () => ({ kind: 'all', of: of.map(part => part.fails()) }) }
}
