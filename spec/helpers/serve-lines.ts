/**
 * Serves command lines beside each other in this one process, and prints as JSON what each has written once all listen. `ServedLines`
 * starts it. A signal ends all of them.
 */
const [main = '', text = '[]'] = process.argv.slice(2)
const command = (await import(main)) as { main(argv: readonly string[]): Promise<number> }
const { write } = process.stdout
const texts: string[] = []
const running: Promise<number>[] = []
for (const line of JSON.parse(text) as readonly string[][]) {
  const { promise, resolve } = Promise.withResolvers<string>()
  let printed = ''
  process.stdout.write = (chunk: string, ...more: readonly unknown[]) => {
    printed += chunk
    // Its last lines are requests to try.
    if (/ at http:\S+\n[^]*Try:\n(?: .*\n)+\n/.test(printed)) resolve(printed)
    const written = more.findLast(each => typeof each === 'function') as (() => void) | undefined
    if (written !== undefined) process.nextTick(written)
    return true
  }
  const ended = command.main(line)
  running.push(ended)
  const failed = ended.then(code => Promise.reject(new Error(`${line.join(' ')} has ended with ${code} before it listened. ${printed}`)))
  texts.push(await Promise.race([promise, failed]))
  failed.catch(() => {})
}
process.stdout.write = write
process.stdout.write(`${JSON.stringify(texts)}\n`)
process.exitCode = Math.max(...(await Promise.all(running)))
