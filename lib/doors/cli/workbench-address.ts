/** Says whether the command serves the workbench: by default, on a loopback address alone. */
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { isLoopback } from '../server/origin-guard.ts'
import type { CommandArguments } from './arguments.ts'

export async function servesWorkbench({ workbench, host }: Pick<CommandArguments, 'workbench' | 'host'>): Promise<boolean> {
  return workbench ?? (await isLocal(host))
}

export async function isLocal(host: string): Promise<boolean> {
  if (host === 'localhost') return true
  // The server will report an unknown name.
  const address = isIP(host) === 0 ? (await lookup(host).catch(() => undefined))?.address : host
  return isLoopback(address)
}
