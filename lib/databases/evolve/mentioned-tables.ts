/** Finds tables without an entity that the model names in a query, formula, check or function: such tables stay. Code is read as text. */
import type { EntityMetadata, EntityProperty, MikroORM } from '@mikro-orm/core'
import { escapeRegExp } from '../../foundation/base/escape-reg-exp.ts'
import { compileFormula } from '../../model/metadata/sql-formula.ts'
import type { Evolving } from '../../records/database/evolving.ts'
import { name } from '../sql/sql.ts'

export function listMentions(orm: MikroORM, { resources }: Pick<Evolving, 'resources'>): (table: string) => boolean {
  const texts: string[] = []
  for (const meta of orm.getMetadata()) {
    collect([meta.expression, meta.checks, meta.triggers, meta.filters], texts)
    for (const prop of meta.props) collect([readFormula(meta, prop), prop.generated], texts)
  }
  for (const { config } of resources) collect(config, texts)
  const all = texts.join('\n')
  return table => new RegExp(`(?<![\\p{L}\\p{N}_$])${escapeRegExp(table)}(?![\\p{L}\\p{N}_$])`, 'iu').test(all)
}

/** MikroORM makes a function of a formula's text. */
function readFormula(meta: EntityMetadata, prop: EntityProperty): string | undefined {
  return prop.formula === undefined ? undefined : compileFormula(meta, prop)('t', name).sql
}

function collect(value: unknown, texts: string[], seen = new Set<unknown>()): void {
  if (typeof value === 'string') texts.push(value)
  else if (typeof value === 'function') texts.push(value.toString())
  else if (typeof value === 'object' && value !== null && !seen.has(value)) {
    seen.add(value)
    for (const each of Array.isArray(value) ? value : Object.values(value)) collect(each, texts, seen)
  }
}
