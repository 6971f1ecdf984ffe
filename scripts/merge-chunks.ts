/**
 * Merges chunks that are always loaded together. A bundler makes a chunk of the modules that the same entries share, so each module that is
 * loaded on demand cuts what all others load into smaller files. Takes what esbuild says of its outputs and groups of entries; writes one
 * file for each group in the place of its chunks, and changes the imports of the others.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { build } from 'esbuild'
import type { Metafile } from 'esbuild'

type Outputs = Metafile['outputs']

/** The chunks that all of some entries load. */
export interface Group {
  /** Name of the file, without its ending. */
  readonly name: string
  /** The sources of the entries, as in `metafile`: `lib/index.ts`. */
  readonly entries: readonly string[]
}

/** Finds what an output loads with it, itself included. */
function findClosure(outputs: Outputs, path: string, found = new Set<string>()): Set<string> {
  if (found.has(path)) return found
  found.add(path)
  for (const { path: other, kind } of outputs[path]?.imports ?? [])
    if (kind === 'import-statement' && other in outputs) findClosure(outputs, other, found)
  return found
}

/**
 * Assigns each chunk to the first group whose entries all load it. What a chunk imports is loaded wherever the chunk is, so imports lead to
 * its own group or to an earlier one.
 */
function assign(outputs: Outputs, groups: readonly Group[]): ReadonlyMap<string, readonly string[]> {
  const taken = new Set<string>()
  const assigned = new Map<string, readonly string[]>()
  for (const { name, entries } of groups) {
    const closures = entries.map(entry => {
      const path = Object.keys(outputs).find(each => outputs[each]!.entryPoint === entry)
      if (path === undefined) throw new Error(`${entry} is not an entry of the build.`)
      return findClosure(outputs, path)
    })
    const shared = [...closures[0]!].filter(
      path => outputs[path]!.entryPoint === undefined && !taken.has(path) && closures.every(closure => closure.has(path)),
    )
    for (const path of shared) taken.add(path)
    assigned.set(name, shared)
  }
  return assigned
}

/** Where the export of a chunk has gone. */
interface Moved {
  readonly file: string
  readonly names: ReadonlyMap<string, string>
}

/** Writes the file of a group. Names that two of its chunks export become different ones. */
async function writeGroup(root: string, outputs: Outputs, name: string, chunks: readonly string[]): Promise<ReadonlyMap<string, Moved>> {
  const moved = new Map<string, Moved>()
  const folder = join(root, dirname(chunks[0]!))
  const file = `${name}.js`
  const taken = new Set<string>()
  let text = ''
  for (const [index, chunk] of chunks.entries()) {
    const names = new Map(outputs[chunk]!.exports.map(each => [each, taken.has(each) ? `${each}$${index}` : each]))
    for (const each of names.values()) taken.add(each)
    moved.set(basename(chunk), { file, names })
    const list = [...names].map(([own, given]) => (own === given ? own : `${own} as ${given}`))
    if (list.length > 0) text += `export { ${list.join(', ')} } from './${basename(chunk)}'\n`
  }
  const inside = new Set(chunks.map(chunk => `./${basename(chunk)}`))
  await build({
    stdin: { contents: text, resolveDir: folder },
    outfile: join(folder, file),
    bundle: true,
    format: 'esm',
    platform: 'node',
    logLevel: 'warning',
    plugins: [
      {
        name: 'group',
        setup: ({ onResolve }) => {
          onResolve({ filter: /./ }, ({ path, kind }) =>
            kind === 'entry-point' || inside.has(path) ? undefined : { path, external: true },
          )
        },
      },
    ],
  })
  return moved
}

const IMPORT = /^import (?:\{\n(?<names>[^}]*)\n\} from )?"(?<folder>[./\w-]*\/)(?<file>[\w-]+\.js)";$/gm

/** Leads the imports of a file to where their chunks have gone. */
function redirect(text: string, moved: ReadonlyMap<string, Moved>): string {
  return text.replaceAll(IMPORT, (whole: string, ...matched: unknown[]) => {
    const { names, folder, file } = matched.at(-1) as { readonly names?: string; readonly folder: string; readonly file: string }
    const place = moved.get(file)
    if (place === undefined) return whole
    if (names === undefined) return `import "${folder}${place.file}";`
    const list = names.split(',\n').map(each => {
      const [, own, local] = /^\s*([\w$]+)(?: as ([\w$]+))?$/.exec(each)!
      const given = place.names.get(own!)!
      const called = local ?? own!
      return given === called ? `  ${given}` : `  ${given} as ${called}`
    })
    return `import {\n${list.join(',\n')}\n} from "${folder}${place.file}";`
  })
}

/** @param groups in the order of their imports: a later one may import from an earlier one */
export async function mergeChunks(root: string, { outputs }: Metafile, groups: readonly Group[]): Promise<void> {
  const assigned = [...assign(outputs, groups)].filter(([, chunks]) => chunks.length > 1)
  const moved = new Map<string, Moved>()
  for (const [name, chunks] of assigned) for (const [chunk, place] of await writeGroup(root, outputs, name, chunks)) moved.set(chunk, place)
  const merged = new Set(assigned.flatMap(([, chunks]) => chunks))
  const written = assigned.map(([name, chunks]) => join(dirname(chunks[0]!), `${name}.js`))
  for (const path of [...Object.keys(outputs).filter(each => each.endsWith('.js') && !merged.has(each)), ...written]) {
    const file = join(root, path)
    const text = redirect(readFileSync(file, 'utf8'), moved)
    if ([...moved.keys()].some(chunk => text.includes(`/${chunk}"`))) throw new Error(`${path} imports a chunk that was merged.`)
    writeFileSync(file, text)
  }
  for (const path of merged) rmSync(join(root, path))
}
