/**
 * Serves command lines beside each other in this one process, and prints their addresses as JSON when all listen. `ServedLines` starts it.
 * A signal ends all of them.
 */
const [main = '', text = '[]'] = process.argv.slice(2)
const command = (await import(main)) as { main(argv: readonly string[]): Promise<number> }
const { write } = process.stdout
const origins: string[] = []
const running: Promise<number>[] = []
for (const line of JSON.parse(text) as readonly string[][]) {
  const { promise, resolve } = Promise.withResolvers<string>()
  let printed = ''
  process.stdout.write = (chunk: string, ...more: readonly unknown[]) => {
    printed += chunk
    const [, origin] = / at (http:\S+)\n/.exec(printed) ?? []
    if (origin !== undefined) resolve(origin)
    const written = more.findLast(each => typeof each === 'function') as (() => void) | undefined
    if (written !== undefined) process.nextTick(written)
    return true
  }
  const ended = command.main(line)
  running.push(ended)
  const failed = ended.then(code => Promise.reject(new Error(`${line.join(' ')} has ended with ${code} before it listened. ${printed}`)))
  origins.push(await Promise.race([promise, failed]))
  failed.catch(() => {})
}
process.stdout.write = write
process.stdout.write(`${JSON.stringify(origins)}\n`)
process.exitCode = Math.max(...(await Promise.all(running)))
