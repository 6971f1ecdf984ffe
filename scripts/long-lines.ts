/**
 * Long lines: lists the lines of Markdown with more than 120 columns, and of code with more than 140: all of lib/, and comments elsewhere.
 * oxfmt breaks prose and code; it leaves tables, comments and long texts in code as they are.
 */
import { globSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'

export const COLUMNS = { markdown: 120, code: 140 }

/** Blocks of Markdown that show what a program has printed, as it has printed it: those without a language. */
const OF_OUTPUT = ['', 'text']

/** Returns a sentence for each line below a folder that is too long. */
export function listLongLines(root: string): string[] {
  // npm gives a fixture packages of its own where it needs other versions of them.
  const find = (pattern: string): string[] =>
    globSync(pattern, { cwd: root, exclude: ['**/node_modules'] }).map(file => file.replaceAll(sep, '/'))
  const read = (file: string): string[] => readFileSync(join(root, file), 'utf8').split('\n')
  return [
    ...find('{*.md,{bench,docs,fixtures,lib,scripts,spec}/**/*.md}').flatMap(file => inMarkdown(file, read(file))),
    ...find('{bench,lib,scripts,spec}/**/*.{js,jsx,ts,tsx}').flatMap(file => inCode(file, read(file))),
  ]
}

/** Text has 120 columns, a word alone, such as an address, any number; code in a block has as many as code elsewhere. */
function inMarkdown(file: string, lines: readonly string[]): string[] {
  let language: string | undefined
  return lines.flatMap((line, index) => {
    const fence = /^\s*```(\w*)/.exec(line)
    if (fence !== null) language = language === undefined ? fence[1] : undefined
    if (language !== undefined && OF_OUTPUT.includes(language)) return []
    const most = language === undefined ? COLUMNS.markdown : COLUMNS.code
    if (line.length <= most || /^\s*(?:- )?\S+$/.test(line)) return []
    const advice = line.startsWith('|') ? ': shorten its cells, or write a list' : ''
    return [`${file}:${index + 1}: ${line.startsWith('|') ? 'a row of a table' : 'a line'} ${tooLong(line, most)}${advice}`]
  })
}

/** A line that holds nothing but a comment, and one that holds nothing but a regular expression, which cannot be broken. */
const [COMMENT, EXPRESSION] = [/^\s*(?:\/\/|\/?\*)/, /^\s*\/.+\/[a-z]*(?:\.exec\()?$/]

function inCode(file: string, lines: readonly string[]): string[] {
  return lines.flatMap((line, index) => {
    if (line.length <= COLUMNS.code || !(COMMENT.test(line) || (file.startsWith('lib/') && !EXPRESSION.test(line)))) return []
    return [`${file}:${index + 1}: a ${COMMENT.test(line) ? 'comment' : 'line'} ${tooLong(line, COLUMNS.code)}`]
  })
}

function tooLong(line: string, most: number): string {
  return `has ${line.length} columns, and at most ${most} are allowed`
}
