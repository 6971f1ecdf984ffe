/** Reads the package.json of mikro-rest, for versions. */
import { readFile } from 'node:fs/promises'

interface Manifest {
  readonly version: string
  readonly peerDependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
}

/** The source (`lib/doors/cli`) and the built code (`dist/lib/chunks`) are equally deep in the package. */
export async function readOwnPackage(): Promise<Manifest> {
  return JSON.parse(await readFile(new URL('../../../package.json', import.meta.url), 'utf8')) as Manifest
}
