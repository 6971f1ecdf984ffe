/** Generated code: texts may become code, unless forbidden: a page needs `'unsafe-eval'` (CSP Level 3). */
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
