/**
 * Time marks: comments in the text of a statement, in front of the conditions of every table that it goes through. A statement that may
 * take long is run with a function there that looks at the clock, any other without.
 */
import type { Costs, Statement, Visit } from '../../../records/database/dialect.ts'
import type { Sql } from '../../sql/sql.ts'

const MARK = /\/\*(where)?~(i?)(.*?)\*\//g
// A mark that stands for a whole clause goes with the space in front of it.
const CLAUSE = / \/\*where~.*?\*\/(?= |$)/g

/** A mark in front of the conditions of a table. `isInteger` says that the column holds integers, of which every 16th is looked at. */
export function mark(column: string, isInteger: boolean, isWhole = false): string {
  return column.includes('*/') ? '' : `/*${isWhole ? 'where' : ''}~${isInteger ? 'i' : ''}${column}*/`
}

/** From this much work with each row on, each row is looked at. */
const HEAVY = 200

/** A statement as it is run as a rule, and what may be needed of it otherwise. */
export function buildStatement(whole: Sql, visits: readonly Visit[], about: string): Statement {
  const sql = whole.text.replaceAll(CLAUSE, '').replaceAll(MARK, '')
  if (sql === whole.text) return { sql, bindings: whole.bindings }
  // JSON, functions of the engine and expressions of the application cost more than a comparison.
  const calls = sql.match(/json_(?!each)|mikro_|\(select /g)?.length ?? 0
  const weight = 1 + whole.bindings.length + 20 * calls
  const look = weight >= HEAVY ? '0' : '15'
  let watched: string | undefined
  const costs: Costs = {
    visits,
    weight,
    about,
    get watched() {
      return (watched ??= whole.text.replaceAll(MARK, (_, where: string | undefined, isInteger: string, column: string) => {
        const ticks = `((${isInteger === '' ? 'random()' : column} & ${look}) or mikro_tick(${column}))`
        return where === undefined ? `${ticks} and ` : `where ${ticks} `
      }))
    },
  }
  return { sql, bindings: whole.bindings, costs }
}
