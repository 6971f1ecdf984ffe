/**
 * Bench of peers: the same operations over HTTP, by the engine and by others that serve data as a REST API, on the same rows. Takes about
 * five minutes when they are installed, which the first run does.
 *
 *     npm run bench:peers                            all
 *     npm run bench:peers -- --rounds 1 remult       one round, and only the peers whose name has one of the words (the engine always)
 *     npm run bench:peers -- --docs                  writes the tables into docs/benchmarks.md, too
 *
 * Each is a process of its own with data of its own; every round begins with another one. What they answer is checked first. The first
 * table has requests a second by a few connections, the second the microseconds of the processor that the server has spent on one, which
 * what else the machine does changes less. Who cannot be installed is named, with the reason.
 */
import { AssertionError } from 'node:assert'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dots } from '../plot.ts'
import { Report } from '../report.ts'
import { figure, inTurns, median } from '../summary.ts'
import { wordsOf } from '../words.ts'
import { check } from './check.ts'
import { install } from './install.ts'
import { BY_HAND, ENGINE, OPERATIONS, PEERS, PEERS_SIZE } from './peers.ts'
import type { OperationName, Peer } from './peers.ts'
import { CONNECTIONS, Running, fill } from './running.ts'
import type { Sample } from './running.ts'

interface Contender {
  readonly peer: Peer
  readonly file: string
  readonly samples: Readonly<Record<OperationName, Sample[]>>
}

const words = wordsOf({ rounds: 2, names: PEERS.map(({ name }) => name) })
const { rounds } = words
const isWanted = (peer: Peer): boolean => peer === ENGINE || words.isWanted(peer.name)

const report = new Report('bench:peers', words.docs)
const { users, sites } = PEERS_SIZE
report.say(
  `${users.toLocaleString('en')} users with ${sites.toLocaleString('en')} sites, ${CONNECTIONS} connections over loopback; ` +
    `medians of ${rounds} rounds.`,
)
const folder = await mkdtemp(join(tmpdir(), 'mikro-rest-peers-'))
try {
  fill(folder)
  const contenders: Contender[] = []
  for (const peer of PEERS.filter(isWanted)) {
    const contender = await enter(peer)
    if (contender !== undefined) contenders.push(contender)
  }
  for (let round = 0; round < rounds; round++) {
    for (const { peer, file, samples } of inTurns(contenders, round)) {
      const running = await Running.start(peer, file, folder)
      try {
        for (const operation of OPERATIONS) samples[operation].push(await running.time(operation))
      } finally {
        await running.stop()
      }
    }
  }
  print(contenders)
  await report.end()
} finally {
  await rm(folder, { recursive: true, force: true })
}

/** Installs a peer and checks what it answers; one that cannot be installed or started is left out. */
async function enter(peer: Peer): Promise<Contender | undefined> {
  try {
    const file = await install(peer)
    const running = await Running.start(peer, file, folder)
    try {
      await check(running)
    } finally {
      await running.stop()
    }
    const samples = Object.fromEntries(OPERATIONS.map(name => [name, [] as Sample[]])) as Record<OperationName, Sample[]>
    return { peer, file, samples }
  } catch (error) {
    // A wrong answer would be an error of this bench.
    if (error instanceof AssertionError || peer === ENGINE) throw error
    report.say(`${peer.name} is left out: ${(error as Error).message}`)
    return undefined
  }
}

function print(contenders: readonly Contender[]): void {
  const of = ({ samples }: Contender, operation: OperationName, part: keyof Sample): number =>
    median(samples[operation].map(sample => sample[part]))
  const tables = [
    ['requests a second', 'perSecond', report.table.bind(report)],
    ['microseconds of CPU', 'microseconds', report.printedTable.bind(report)],
  ] as const
  for (const [title, part, begin] of tables) {
    begin(title, ...OPERATIONS)
    for (const contender of contenders) {
      const cells = OPERATIONS.map(operation => figure(of(contender, operation, part)))
      if (contender.peer.isPrintedOnly === true) report.printedRow(contender.peer.name, ...cells)
      else report.row(contender.peer.name, ...cells)
    }
  }
  const engine = contenders.find(({ peer }) => peer === ENGINE)!
  const peers = contenders.filter(({ peer }) => peer !== ENGINE && peer !== BY_HAND)
  if (peers.length === 0) return
  const title = 'Requests a second over HTTP'
  const series = contenders.map(contender => ({
    name: contender.peer.name,
    values: OPERATIONS.map(operation => of(contender, operation, 'perSecond')),
  }))
  report.plot('bench-peers', title, dots({ title, x: { label: 'requests a second, more is better', log: true }, rows: OPERATIONS, series }))
  const times = (value: number): string => `${value.toFixed(2)}x`
  report.printedTable('mikro-rest : the best peer', ...OPERATIONS)
  const faster = OPERATIONS.map(name => of(engine, name, 'perSecond') / Math.max(...peers.map(peer => of(peer, name, 'perSecond'))))
  report.row('more requests a second', ...faster.map(times))
  const cheaper = OPERATIONS.map(name => Math.min(...peers.map(peer => of(peer, name, 'microseconds'))) / of(engine, name, 'microseconds'))
  report.row('less CPU', ...cheaper.map(times))
}
