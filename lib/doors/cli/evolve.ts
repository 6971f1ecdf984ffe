/** Shows the changes of `--evolve` in a database, and asks at a terminal about possible renamings. */
import { createInterface } from 'node:readline/promises'
import { rehearse } from '../../engine/assembly/rehearse.ts'
import type { EngineOptions } from '../../engine/options/options.ts'
import type { EvolvePlan, PossibleRename } from '../../records/database/evolving.ts'
import { describeDatabase } from '../../records/database/describe-database.ts'
import { readDatabase } from '../../engine/options/database-option.ts'
import { escapeControls } from './explanation-text.ts'

type Ask = (rename: PossibleRename) => Promise<boolean>

/**
 * Rehearses the evolution until nothing is left to ask.
 *
 * @returns the plan, and the options with confirmed names
 * @throws Error in one line for what prevents the evolution
 */
export async function planEvolution(
  options: EngineOptions,
  ask: Ask | undefined,
): Promise<{ readonly plan: EvolvePlan; readonly options: EngineOptions }> {
  let confirmedOptions = options
  const answered = new Set<string>()
  for (;;) {
    const { plan, error } = await rehearse(confirmedOptions)
    const next = ask === undefined ? undefined : plan.renames.find(rename => !answered.has(JSON.stringify(rename)))
    if (next === undefined) {
      if (error !== undefined) throw error
      return { plan, options: confirmedOptions }
    }
    answered.add(JSON.stringify(next))
    if (!(await ask!(next))) continue
    const { resource, from, to } = next
    confirmedOptions = {
      ...confirmedOptions,
      renamed: { ...confirmedOptions.renamed, [resource]: { ...confirmedOptions.renamed?.[resource], [from]: to } },
    }
  }
}

export function askAtTerminal(): Ask | undefined {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return undefined
  return async ({ resource, from, to }) => {
    const lines = createInterface({ input: process.stdin, output: process.stdout })
    try {
      const answer = await lines.question(
        resource === 'entities'
          ? `Is ${escapeControls(to)} the entity "${escapeControls(from)}" by a new name? [y/N] `
          : `Is ${escapeControls(`${resource}.${to}`)} the column "${escapeControls(from)}" by a new name? [y/N] `,
      )
      return /^\s*y(?:es)?\s*$/i.test(answer)
    } finally {
      lines.close()
    }
  }
}

export function formatPlan({ steps, stays }: EvolvePlan, database: string, model: string): string {
  const name = escapeControls(database)
  const lines = steps.flatMap(({ sentence, sql }) => [
    `  ${escapeControls(sentence)}`,
    ...sql.flatMap(text => text.split('\n').map(line => `    ${escapeControls(line)}`)),
  ])
  const left = stays.length === 0 ? [] : ['What stays:', ...stays.map(text => `  ${escapeControls(text)}`)]
  const head = steps.length === 0 ? `${name} fits ${model}.` : `${name} becomes what ${model} says:`
  return [head, ...lines, ...left, ''].join('\n')
}

export function nameDatabase({ database }: EngineOptions): string {
  return describeDatabase(readDatabase(database ?? ':memory:'))
}
