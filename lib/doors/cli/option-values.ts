/** Reads the values of options, such as `--port 3000`. Throws CommandError for a bad value. */
import { isIPv6 } from 'node:net'
import { MAX_DELAY } from '../../engine/testing/fault-options.ts'
import { readBase } from '../../records/request/address.ts'
import { misuse } from './command-error.ts'

export function toBase(base: string | undefined): string | undefined {
  if (base === undefined) return undefined
  try {
    return readBase(base, '--base')
  } catch (error) {
    throw misuse((error as Error).message.replace('"base" must be', 'must be'))
  }
}

/** Words with which other commands begin: not taken for a file. */
const VERBS: ReadonlySet<string> = new Set(['serve', 'start', 'run', 'dev', 'watch', 'open', 'mikro-rest', 'json-server'])

export function toFile(files: readonly string[]): string | undefined {
  if (files.length < 2) return files[0]
  const others = files.filter(file => !VERBS.has(file))
  const hint = others.length === 1 ? ` The command has no word for serving: mikro-rest ${others[0]}.` : ''
  throw misuse(`One FILE can be served, got ${files.length}: ${files.join(', ')}.${hint}`)
}

export function toHost(host: string): string {
  if (host === '') throw misuse('--host needs an address.')
  const [, name, port] = /^(?:https?:\/\/)?([\w.-]+):(\d+)\/?$/i.exec(host) ?? []
  if (name !== undefined) throw misuse(`--host takes an address without a port: --host ${name} --port ${port}.`)
  return host
}

export function toPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : NaN
  if (!(port <= 65_535)) throw misuse(`--port takes a number from 0 to 65535, got "${text}".`)
  return port
}

export function toHosts(names: readonly string[]): readonly string[] | true {
  if (names.includes('*')) return true
  const wrong = names.find(name => !/^\.?[\w-]+(?:\.[\w-]+)*$/.test(name) && !isIPv6(name.replace(/^\[(.*)\]$/, '$1')))
  if (wrong !== undefined) throw misuse(`--allow-host takes the name of a host, without a scheme or a port, got "${wrong}".`)
  return names
}

export function toMilliseconds(option: string, text: string, least: number): number {
  const time = /^\d{1,10}$/.test(text) ? Number(text) : NaN
  if (time >= least && time <= MAX_DELAY) return time
  throw misuse(`${option} takes a number of milliseconds from ${least} to ${MAX_DELAY}, got "${text}".`)
}

export function refuseOthers(what: string, others: Readonly<Record<string, string | boolean | undefined>>): void {
  const other = Object.entries(others).find(([, given]) => given !== undefined && given !== false)
  if (other !== undefined) throw misuse(`${what}: it does not go with ${other[0]}.`)
}
