/** Says whether `new Function` works, or a page's Content Security Policy forbids generated code. */
let isAllowed: boolean | undefined

export function mayGenerateCode(): boolean {
  try {
    // Cloudflare allows the empty function.
    // eslint-disable-next-line typescript/no-implied-eval -- a number
    return (isAllowed ??= typeof new Function('return 0') === 'function')
  } catch (error) {
    if (!(error instanceof EvalError)) throw error
    return (isAllowed = false)
  }
}
