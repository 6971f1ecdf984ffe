/** Says whether `new Function` works, or a page's Content Security Policy forbids generated code. */
let isAllowed: boolean | undefined

export function mayGenerateCode(): boolean {
  try {
    // eslint-disable-next-line typescript/no-implied-eval -- an empty function
    return (isAllowed ??= typeof new Function() === 'function')
  } catch (error) {
    if (!(error instanceof EvalError)) throw error
    return (isAllowed = false)
  }
}
