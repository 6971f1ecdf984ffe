/**
 * Runs command lines one after another in this one process, and prints what each has written and its exit code, as JSON. `runAll` starts
 * it.
 */
const [main = '', text = '[]'] = process.argv.slice(2)
const command = (await import(main)) as { main(argv: readonly string[]): Promise<number> }

/** Writes into a text in place of a stream. Returns what puts the stream back, and gives the text. */
function take(stream: NodeJS.WriteStream): () => string {
  const { write } = stream
  let taken = ''
  stream.write = (chunk: string, ...more: readonly unknown[]) => {
    taken += chunk
    const written = more.findLast(each => typeof each === 'function') as (() => void) | undefined
    if (written !== undefined) process.nextTick(written)
    return true
  }
  return () => {
    stream.write = write
    return taken
  }
}

const results: object[] = []
for (const line of JSON.parse(text) as readonly string[][]) {
  const [out, error] = [take(process.stdout), take(process.stderr)]
  try {
    results.push({ code: await command.main(line), stdout: out(), stderr: error() })
  } finally {
    out()
    error()
    // Each run listens for itself.
    process.stdout.removeAllListeners('error')
  }
}
process.stdout.write(JSON.stringify(results), () => process.exit())
