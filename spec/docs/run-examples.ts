/** Run examples: imports the files that it is given one after another, in this one process, and notes in the first what each ended with. */
import { appendFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'

const [notes = '', ...files] = process.argv.slice(2)
for (const file of files) {
  const error = await import(pathToFileURL(file).href).then(
    () => undefined,
    (thrown: unknown) => inspect(thrown),
  )
  appendFileSync(notes, `${JSON.stringify({ file, error })}\n`)
}
