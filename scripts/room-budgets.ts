/**
 * Room budgets: holds each folder of lib/ to its lines of code, its words of comments, and its pronouns in 100 words (budgets.json). A
 * pronoun stands for a noun that the reader has to find.
 */

export interface RoomSize {
  readonly lines: number
  readonly words: number
  /** In 100 words. */
  readonly pronouns: number
}

export interface Budgets {
  /** Lines that `lib/engine.ts` reaches by static imports. */
  readonly reached: number
  readonly rooms: Readonly<Record<string, RoomSize>>
}

const PRONOUNS = new Set('it its itself they them their those that which what whose one ones these this there'.split(' '))

const COMMENT = /\/\*\*?([\s\S]*?)\*\/|^\s*\/\/(.*)$/gm

/** Shorter comments are names of things. */
const FEWEST_WORDS = 4

/** Measures the files of a room. */
export function measureRoom(texts: readonly string[]): RoomSize {
  let [lines, words, pronouns] = [0, 0, 0]
  for (const text of texts) {
    lines += text.split('\n').length - 1
    for (const [, block, line = ''] of text.matchAll(COMMENT)) {
      const found = readWords(block ?? line)
      if (found.length < FEWEST_WORDS) continue
      words += found.length
      pronouns += found.filter(word => PRONOUNS.has(word.toLowerCase())).length
    }
  }
  return { lines, words, pronouns: words === 0 ? 0 : (100 * pronouns) / words }
}

/** Examples and tags (`@param name`) are no prose. */
function readWords(comment: string): string[] {
  const prose = comment
    .replaceAll(/^\s*\*\s?/gm, '')
    .replaceAll(/```[\s\S]*?```/g, '')
    .replaceAll(/@\w+[^\n]*/g, '')
  return prose.match(/[A-Za-z']+/g) ?? []
}

/** Says which rooms are larger than their budgets. */
export function listOverBudget(rooms: ReadonlyMap<string, RoomSize>, budgets: Budgets): string[] {
  return [...rooms].flatMap(([room, size]) => {
    const budget = budgets.rooms[room]
    if (budget === undefined) return [`lib/${room} has no budget: "npm run imports -- --lower" writes one`]
    const over = [
      ...(size.lines > budget.lines ? [`${size.lines} lines, and at most ${budget.lines}`] : []),
      ...(size.words > budget.words ? [`${size.words} words of comments, and at most ${budget.words}`] : []),
      ...(size.pronouns > budget.pronouns ? [`${size.pronouns.toFixed(1)} pronouns in 100 words, and at most ${budget.pronouns}`] : []),
    ]
    const advice = 'take something out, or raise scripts/budgets.json in a commit that says what for'
    return over.map(each => `lib/${room} has ${each} are allowed: ${advice}`)
  })
}

/** Steps of the numbers in budgets.json: a small change needs no other number. */
const STEPS: RoomSize = { lines: 50, words: 50, pronouns: 0.5 }

/** Returns the budgets as low as the rooms are; no number rises. A room without a budget gets one. */
export function lowerBudgets(rooms: ReadonlyMap<string, RoomSize>, reached: number, budgets: Budgets): Budgets {
  const lowered = [...rooms].map(([room, size]) => {
    const known = budgets.rooms[room] ?? { lines: Infinity, words: Infinity, pronouns: Infinity }
    const lower = (name: keyof RoomSize): number => Math.min(known[name], Math.ceil(size[name] / STEPS[name]) * STEPS[name])
    return [room, { lines: lower('lines'), words: lower('words'), pronouns: lower('pronouns') }] as const
  })
  return { reached: Math.min(budgets.reached, Math.ceil(reached / 100) * 100), rooms: Object.fromEntries(lowered) }
}
