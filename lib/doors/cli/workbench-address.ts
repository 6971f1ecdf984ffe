/** Workbench address: the command serves the workbench on a loopback address by default, elsewhere when asked to. */
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { isLoopback } from '../server/origin-guard.ts'
import type { CommandArguments } from './arguments.ts'

export async function servesWorkbench({ workbench, host }: Pick<CommandArguments, 'workbench' | 'host'>): Promise<boolean> {
  return workbench ?? (await isLocal(host))
}

/** Takes an address or a name. */
export async function isLocal(host: string): Promise<boolean> {
  if (host === 'localhost') return true
  // The server reports a name that cannot be resolved.
  const address = isIP(host) === 0 ? (await lookup(host).catch(() => undefined))?.address : host
  return isLoopback(address)
}
