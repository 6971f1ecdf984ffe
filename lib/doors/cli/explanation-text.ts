/** Formats an explanation of `--explain` for a terminal: times, statements, query plans, hints at indexes. */
import { styleText } from 'node:util'
import type { PlanStep } from '../../records/database/explained-statements.ts'
import type { ExplainedStatement, Explanation, IndexHint } from '../../engine/journal/explanation.ts'

/** Characters of a line. */
const WIDTH = 160

/**
 * @param isJson a JSON file is served, which can have no indexes
 * @param stream the output, which decides about colours
 */
export function formatExplanation(
  { timing, duration, cached, writes, statements, hints }: Explanation,
  isJson: boolean,
  stream: NodeJS.WriteStream = process.stdout,
): string {
  const styled: Styled = (format, text) => styleText(format, text, { stream })
  const stages = Object.entries(timing)
    .filter(([, ms]) => ms >= 0.005)
    .map(([stage, ms]) => `${stage} ${ms.toFixed(2)}${stage === 'plan' && cached === true ? ' (cached)' : ''}`)
  const lines = [
    styled('dim', `  ${[...stages, `total ${duration.toFixed(2)} ms`].join(', ')}`),
    ...writes.map(way => styled('dim', `  written ${way}`)),
    ...statements.flatMap(statement => formatStatement(statement, styled)),
    ...hints.flatMap(hint => formatHint(hint, isJson, styled)),
  ]
  return `${lines.join('\n')}\n`
}

type Styled = (format: 'dim' | 'yellow' | 'bold', text: string) => string

function formatStatement({ sql, parameters, duration, rows, plan }: ExplainedStatement, styled: Styled): string[] {
  const [first = '', ...others] = splitClauses(escapeControls(sql))
  const outcome = rows === undefined ? 'failed' : `${rows.toLocaleString('en')} row${rows === 1 ? '' : 's'}`
  return [
    `  ${`${duration.toFixed(2)} ms`.padStart(10)} ${outcome.padStart(9)}  ${cut(first)}`,
    ...others.map(line => `${' '.repeat(24)}${cut(line)}`),
    ...(parameters.length === 0 ? [] : [styled('dim', `${' '.repeat(24)}${cut(escapeControls(JSON.stringify(parameters)))}`)]),
    ...formatPlan(plan, 26, styled),
  ]
}

function formatPlan(steps: readonly PlanStep[], indent: number, styled: Styled): string[] {
  return steps.flatMap(step => {
    const { detail, table, rows, isCostly, children } = step
    const about =
      rows === undefined
        ? ''
        : table === undefined
          ? `  (${rows.toLocaleString('en')} rows)`
          : `  (${escapeControls(table)}: ${rows.toLocaleString('en')} rows)`
    const line = `${' '.repeat(indent)}${escapeControls(detail)}`
    const styledLine = isCostly ? styled('yellow', `${line.slice(0, indent - 2)}! ${line.slice(indent)}${about}`) : styled('dim', line)
    return [styledLine, ...formatPlan(children, indent + 2, styled)]
  })
}

function formatHint({ detail, sql, entity }: IndexHint, isJson: boolean, styled: Styled): string[] {
  if (isJson)
    return [
      `  ${styled('yellow', 'hint')}: ${escapeControls(detail)}`,
      '        A JSON file has no indexes: --eject DIR writes a model that can have them.',
    ]
  return [
    `  ${styled('yellow', 'hint')}: ${escapeControls(detail)}`,
    `        ${styled('bold', escapeControls(sql))}`,
    ...(entity === undefined ? [] : [`        or in the model, ${escapeControls(entity)}`]),
  ]
}

function splitClauses(sql: string): string[] {
  const lines = ['']
  let depth = 0
  for (const token of sql.match(/'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\s+|\w+|./g) ?? []) {
    if (token === '(') depth++
    else if (token === ')') depth--
    const isClause = depth === 0 && /^(?:from|left|where|order|limit|union|set|values|returning)$/i.test(token)
    const isJoin = depth === 0 && /^join$/i.test(token) && !/\bleft $/i.test(lines.at(-1)!)
    if (isClause || isJoin) lines.push(token)
    else lines[lines.length - 1] += token
  }
  return lines.map(line => line.trim()).filter(line => line !== '')
}

function cut(line: string): string {
  return line.length <= WIDTH ? line : `${line.slice(0, WIDTH - 1)}…`
}

export function escapeControls(text: string): string {
  // oxlint-disable-next-line no-control-regex -- finds control characters
  return text.replaceAll(/\s+/g, ' ').replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, '?')
}
