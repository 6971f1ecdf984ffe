/**
 * Evolve: shows what `schema: 'evolve'` would change in a database, and asks about names at a terminal. Takes the options of an engine;
 * gives them with the names that were confirmed.
 */
import { createInterface } from 'node:readline/promises'
import { rehearse } from '../../engine/pipeline/rehearse.ts'
import type { EngineOptions } from '../../engine/pipeline/options.ts'
import type { EvolvePlan, PossibleRename } from '../../records/database/evolving.ts'
import { describeDatabase } from '../../records/database/describe-database.ts'
import { readDatabase } from '../../engine/pipeline/database-option.ts'
import { escapeControls } from './explanation-text.ts'

/** Answers whether a column is another one by a new name. */
type Ask = (rename: PossibleRename) => Promise<boolean>

/**
 * Rehearses the evolution until nothing is left to ask.
 *
 * @returns the plan, and the options with the names that were confirmed
 * @throws Error in one line for what stands against it.
 */
export async function planEvolution(
  options: EngineOptions,
  ask: Ask | undefined,
): Promise<{ readonly plan: EvolvePlan; readonly options: EngineOptions }> {
  let asked = options
  const answered = new Set<string>()
  for (;;) {
    const { plan, error } = await rehearse(asked)
    const next = ask === undefined ? undefined : plan.renames.find(rename => !answered.has(JSON.stringify(rename)))
    if (next === undefined) {
      if (error !== undefined) throw error
      return { plan, options: asked }
    }
    answered.add(JSON.stringify(next))
    if (!(await ask!(next))) continue
    const { resource, from, to } = next
    asked = { ...asked, renamed: { ...asked.renamed, [resource]: { ...asked.renamed?.[resource], [from]: to } } }
  }
}

/** Asks at the terminal; undefined where there is none. */
export function askAtTerminal(): Ask | undefined {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return undefined
  return async ({ resource, from, to }) => {
    const lines = createInterface({ input: process.stdin, output: process.stdout })
    try {
      const answer = await lines.question(
        `Is ${escapeControls(`${resource}.${to}`)} the column "${escapeControls(from)}" by a new name? [y/N] `,
      )
      return /^\s*y(?:es)?\s*$/i.test(answer)
    } finally {
      lines.close()
    }
  }
}

/** Formats a plan: each step as a sentence and as SQL. */
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

/** Returns the name of the database of an engine, for messages. */
export function nameDatabase({ database }: EngineOptions): string {
  return describeDatabase(readDatabase(database ?? ':memory:'))
}
