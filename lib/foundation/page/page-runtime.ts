/** A page's `Runtime`, in the place of runtime.ts: standards of the web, and synchronous hashes of @noble/hashes. */
import { md5, sha1 } from '@noble/hashes/legacy.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'
import type { Runtime } from '../runtime/runtime.ts'
import { bindWork, createWorkContext } from './carried-work.ts'
import { countTextBytes, formatPageBytes, parsePageBytes } from './page-bytes.ts'
import { isSameValue } from './same-value.ts'
import { STATUS_NAMES } from './status-names.ts'

const HASHES = { sha256, sha1, md5 }

/** A page has no timer without a delay: a message arrives at once. */
function nextTurn(): Promise<void> {
  return new Promise(resolve => {
    const { port1, port2 } = new MessageChannel()
    port1.addEventListener(
      'message',
      () => {
        port1.close()
        resolve()
      },
      { once: true },
    )
    port1.start()
    port2.postMessage(undefined)
  })
}

/** Version 4 of RFC 9562. `crypto.randomUUID` is for HTTPS and localhost alone. */
function randomUUID(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  bytes[6] = (bytes[6]! & 0x0f) | 0x40
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return formatPageBytes(bytes, 'hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

export const runtime: Runtime = {
  environment: Object.freeze({}),
  hasFiles: false,
  folder: () => '/',
  createContext: createWorkContext,
  bindWork,
  nextTurn,
  // A timer does not keep a page open.
  spare: () => {},
  // oxlint-disable-next-line no-console -- the place for warnings in a page
  warn: warning => console.warn(warning),
  isSame: isSameValue,
  countBytes: countTextBytes,
  formatBytes: formatPageBytes,
  parseBytes: parsePageBytes,
  nameStatus: status => STATUS_NAMES[status],
  hash: (name, text, form) => formatPageBytes(HASHES[name](utf8ToBytes(text)), form),
  randomUUID,
}
