/** Workbench address: whether the command serves the workbench: on a loopback address by itself, elsewhere when it is asked for by name. */
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { isLoopback } from '../server/origin-guard.ts'
import type { CommandArguments } from './arguments.ts'

export async function servesWorkbench({ workbench, host }: Pick<CommandArguments, 'workbench' | 'host'>): Promise<boolean> {
  return workbench ?? (await isLocal(host))
}

/** Whether a host is an address of this machine alone, or a name of one. */
export async function isLocal(host: string): Promise<boolean> {
  if (host === 'localhost') return true
  // A name that cannot be resolved is reported when the server listens.
  const address = isIP(host) === 0 ? (await lookup(host).catch(() => undefined))?.address : host
  return isLoopback(address)
}
