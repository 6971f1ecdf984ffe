/** What specs take, in a page, of other modules of Node and of files that need Node: paths. A test that calls more is left out. */
import { scrypt } from '@noble/hashes/scrypt.js'
import { isSameValue } from '../../../lib/foundation/page/same-value.ts'
import { LeftOut } from './test.ts'

const KNOWN: Readonly<Record<string, unknown>> = {
  tmpdir: () => '/tmp',
  // Suites make folders before their tests, and a test that puts an engine there is left out by `library.ts`.
  mkdtempSync: (path: string) => path,
  mkdtemp: async (path: string) => path,
  rmSync: () => {},
  rm: async () => {},
  join: (...parts: readonly string[]) => parts.join('/'),
  fileURLToPath: (url: string) => new URL(url).pathname,
  pathToFileURL: (path: string) => new URL(path, 'file:///'),
  isDeepStrictEqual: isSameValue,
  randomUUID: () => crypto.randomUUID(),
  randomBytes: (length: number) => Buffer.from(crypto.getRandomValues(new Uint8Array(length))),
  scryptSync: (password: string, salt: Uint8Array, dkLen: number, { N, r, p }: { N: number; r: number; p: number }) =>
    Buffer.from(scrypt(password, salt, { N, r, p, dkLen })),
  promisify: () => () => {},
}

/** @param module such as `fs` */
export function standInFor(module: string): object {
  const missing = (name: string) => (): never => {
    throw new LeftOut(`a page has no ${module}.${name}`)
  }
  const get = (_: object, name: string | symbol): unknown =>
    typeof name === 'symbol' || name === '__esModule' ? undefined : (KNOWN[name] ?? missing(name))
  // esbuild copies the members, and keeps what is inherited.
  return Object.create(new Proxy({}, { get })) as object
}
