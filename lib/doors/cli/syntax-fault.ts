/** Finds the module with a syntax error, unnamed by Node's error, and whether Node takes an ES module for CommonJS. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'

export interface SyntaxFault {
  readonly file: string
  readonly line: number
  readonly text: string
  /** The package.json by which a module with `import` or `export` is CommonJS. */
  readonly manifest: string | undefined
  /** Another loader of TypeScript would not help. */
  readonly isPlain: boolean
}

// Modules to try: each takes a process.
const MOST = 50

const INVALID = 'ERR_INVALID_TYPESCRIPT_SYNTAX'

/** @param urls the modules loaded before the error, in order */
export function findSyntaxFault(error: unknown, urls: Iterable<string>): SyntaxFault | undefined {
  const ofTypeScript = findTypeScriptFault(error)
  if (ofTypeScript !== undefined) return ofTypeScript
  if (!(error instanceof SyntaxError)) return undefined
  for (const url of [...urls].toReversed().slice(0, MOST)) {
    const file = fileURLToPath(url)
    const { status, stderr } = spawnSync(process.execPath, ['--no-warnings', '--check', file], { encoding: 'utf8' })
    const [, line, text] = /^[^\n]*:(\d+)\n.*?^SyntaxError: ([^\n]*)/ms.exec(stderr) ?? []
    if (status === 0 || line === undefined || text === undefined) continue
    const manifest = isModuleSyntax(text) ? findCommonManifest(url) : undefined
    return { file, line: Number(line), text, manifest, isPlain: manifest === undefined && /js$/i.test(file) }
  }
  // `node --check` takes no TypeScript, but here the stack begins with the place.
  const [, file, line] = /^(\S[^\n]*\.ts):(\d+)\n/.exec(error.stack ?? '') ?? []
  if (file === undefined || !isModuleSyntax(error.message)) return undefined
  return { file, line: Number(line), text: error.message, manifest: findCommonManifest(pathToFileURL(file).href), isPlain: false }
}

/** Node's stack begins with the place; tsx has the place in the message. */
function findTypeScriptFault(error: unknown): SyntaxFault | undefined {
  if (!(error instanceof Error)) return undefined
  const { name, message, stack = '' } = error
  const [, url, row] = (error as NodeJS.ErrnoException).code === INVALID ? (/^(\S[^\n]*\.[cm]?ts):(\d+)\n/.exec(stack) ?? []) : []
  if (url !== undefined)
    return {
      file: url.startsWith('file:') ? fileURLToPath(url) : url,
      line: Number(row),
      text: message,
      manifest: undefined,
      isPlain: true,
    }
  const [, path, line, text] = name === 'TransformError' ? (/^(.+):(\d+):\d+: ERROR: (.+)$/m.exec(message) ?? []) : []
  if (path === undefined) return undefined
  return { file: findNamed(path), line: Number(line), text: text!, manifest: undefined, isPlain: true }
}

/** tsx calls `model.mts` `model.ts`. */
function findNamed(path: string): string {
  return [path, ...['.mts', '.cts', '.tsx'].map(extension => path.replace(/\.ts$/, extension))].find(each => existsSync(each)) ?? path
}

function isModuleSyntax(text: string): boolean {
  return /import statement outside a module|Unexpected token 'export'/.test(text)
}

/** Node looks at the code unless package.json has "type": "commonjs". */
function findCommonManifest(url: string): string | undefined {
  if (!/\.[jt]s$/.test(url)) return undefined
  const manifest = findPackageJSON(url)
  if (manifest === undefined) return undefined
  const { type } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly type?: string }
  return type === 'commonjs' ? manifest : undefined
}
