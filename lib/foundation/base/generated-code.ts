/** Generated code: whether texts may become code. A page's CSP (Level 3) may forbid code: `'unsafe-eval'`. */
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
