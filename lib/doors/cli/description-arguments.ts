/**
 * Description arguments: checks what goes with `--openapi` and `--diagram`, which write a description and end. Every mistake is a usage
 * error (exit code 2).
 */
import { misuse } from './command-error.ts'

interface DescriptionArguments {
  readonly openapi: string | undefined
  readonly diagram: string | undefined
  readonly get: string | undefined
  readonly eject: string | undefined
  readonly watch: boolean
  readonly save: boolean | 'sync'
}

/** Rejects what does not go with options that write a description and end. */
export function checkDescription(args: DescriptionArguments): void {
  const { openapi, diagram } = args
  if (openapi === undefined && diagram === undefined) return
  const option = openapi === undefined ? '--diagram' : '--openapi'
  const flags = {
    '--diagram': openapi !== undefined && diagram !== undefined,
    '--get': args.get !== undefined,
    '--eject': args.eject !== undefined,
    '--watch': args.watch,
    '--save': args.save !== false,
  }
  const other = Object.entries(flags).find(([, isGiven]) => isGiven)
  if (other !== undefined)
    throw misuse(`${option} writes a ${openapi === undefined ? 'diagram' : 'document'} and ends: it does not go with ${other[0]}.`)
  if (diagram !== undefined && diagram !== '' && !/\.(?:svg|mmd)$/.test(diagram))
    throw misuse(`--diagram takes a file whose name ends with .svg or .mmd (Mermaid), got "${diagram}".`)
}
