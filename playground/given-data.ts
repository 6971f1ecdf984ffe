/**
 * Given data: the text of a db.json and the grammar of its clients, in a link and for reloads of the tab. A link has both behind `#`, which
 * browsers send to no server. Throws errors for readers of the page.
 */
import { toGrammar, type Grammar } from '../lib/doors/cli/other-grammar.ts'
import { formatPageBytes, parsePageBytes } from '../lib/foundation/page/page-bytes.ts'

export interface GivenData {
  readonly text: string
  /** Undefined: the engine's own. */
  readonly as: Grammar | undefined
}

/** In the storage of the tab. */
const KEPT = 'mikro-rest: db.json'
/** Most characters of a text: the storage of a tab has 5 million. */
const MOST = 4_000_000
/** Most characters of a link: messengers and mails cut longer ones. */
const MOST_OF_LINK = 30_000

const BAD_LINK = 'The link carries no data that can be read: perhaps the end is missing.'

export function checkSize({ text }: GivenData): void {
  if (text.length > MOST)
    throw new Error(
      `db.json has ${text.length.toLocaleString('en')} characters, and a page takes at most ${MOST.toLocaleString('en')}: ` +
        'serve it on your machine, by "npx mikro-rest db.json".',
    )
}

/** For reloads. `undefined`: the sample. */
export function keepData(data: GivenData | undefined): void {
  if (data === undefined) sessionStorage.removeItem(KEPT)
  else sessionStorage.setItem(KEPT, JSON.stringify(data))
}

export function readKept(): GivenData | undefined {
  const kept = sessionStorage.getItem(KEPT)
  return kept === null ? undefined : (JSON.parse(kept) as GivenData)
}

export async function writeLink({ text, as }: GivenData): Promise<string> {
  const packed = new Blob([text]).stream().pipeThrough(new CompressionStream('deflate-raw'))
  const db = formatPageBytes(new Uint8Array(await new Response(packed).arrayBuffer()), 'base64url')
  const link = `${location.origin}${location.pathname}#${as === undefined ? '' : `as=${as}&`}db=${db}`
  if (link.length > MOST_OF_LINK)
    throw new Error(
      `The data would make a link of ${link.length.toLocaleString('en')} characters, and more than ` +
        `${MOST_OF_LINK.toLocaleString('en')} are cut on the way: download db.json, and pass the file on.`,
    )
  return link
}

export function isLink(fragment: string): boolean {
  return /^#(?:as=[^&]*&)?db=/.test(fragment)
}

export async function readLink(fragment: string): Promise<GivenData> {
  const parts = new URLSearchParams(fragment.slice(1))
  const as = toGrammar(parts.get('as') ?? undefined)
  return { text: await unpack(parsePageBytes(parts.get('db') ?? '', 'base64url')), as }
}

/** A short link may unpack to more than the memory has. */
async function unpack(bytes: Uint8Array): Promise<string> {
  const stream = new Blob([bytes.slice()]).stream().pipeThrough(new DecompressionStream('deflate-raw'))
  const reader = stream.pipeThrough(new TextDecoderStream('utf-8', { fatal: true })).getReader()
  let text = ''
  for (;;) {
    const { done, value } = await reader.read().catch((cause: unknown) => {
      throw new Error(BAD_LINK, { cause })
    })
    if (done) return text
    text += value
    if (text.length > MOST) {
      await reader.cancel()
      throw new Error(`The link carries more than the ${MOST.toLocaleString('en')} characters that a page takes.`)
    }
  }
}
