/**
 * Worker of a run of specs: one process, in which file after file is imported, as `run-specs.ts` hands them out. Behind the tests of each
 * file stands one that looks whether the file leaves the process as it was, for the files after it.
 */
import { it } from 'node:test'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { tellFilesFollow } from './last-file.ts'
import { lookAround } from './look-around.ts'
import { ENDED, READY, type Message, type Order } from './messages.ts'
import { END } from './report.ts'

/** How long a process may live on after its last test, in milliseconds: to drop a database takes seconds under load. */
const GRACE = 60_000

const send = (message: Message): void => void process.send!(message)

/** Whether tests may still run when there are no more files: in a filtered run all files are imported before the first test. */
let runsOn = false

async function obey(order: Order): Promise<void> {
  if (order.type === ENDED) return end()
  runsOn ||= order.isFiltered
  tellFilesFollow(!order.isFiltered)
  const holdsStill = lookAround()
  try {
    await import(pathToFileURL(resolve(order.file)).href)
  } catch (error) {
    it(order.file, () => Promise.reject(error))
  }
  if (order.isFiltered) send({ type: READY })
  else it(order.file + END, holdsStill)
}

function end(): void {
  process.channel!.unref()
  tellFilesFollow(false)
  const say = (): void => {
    console.log(`✖ After the last spec something is still open: ${process.getActiveResourcesInfo().join(', ')}.`)
    process.exit(1)
  }
  if (!runsOn) setTimeout(say, GRACE).unref()
}

/** An error that nobody has awaited: no test fails by it, and what waits for it may wait for ever. `spare-promises.ts` says more. */
function fallOver(error: unknown): void {
  console.log(`✖ An error that nobody has awaited:`, error)
  process.exit(1)
}

process.on('uncaughtException', fallOver)
process.on('unhandledRejection', fallOver)
process.on('message', (order: Order) => void obey(order))
send({ type: READY })
