/** Own package: reads the manifest of this package, for the versions inside. */
import { readFile } from 'node:fs/promises'

interface Manifest {
  readonly version: string
  readonly peerDependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
}

/** The manifest lies above the source and above the built code. */
export async function readOwnPackage(): Promise<Manifest> {
  for (const above of ['../../../package.json', '../../../package.json']) {
    const text = await readFile(new URL(above, import.meta.url), 'utf8').catch(() => undefined)
    if (text !== undefined) return JSON.parse(text) as Manifest
  }
  throw new Error('The package.json of mikro-rest is not where it should be.')
}
