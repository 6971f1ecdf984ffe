/**
 * Whether spec files still come to this process. What files share and leave open for the next one, such as a browser, is closed behind the
 * last of them: the process would not end otherwise.
 */
const closers = new Set<() => void>()

/** Without a worker, or where all files are imported before the first test, each file closes what it has opened. */
let follow = false

export function filesFollow(): boolean {
  return follow
}

/** @param close is called when no file comes any more */
export function onLastFile(close: () => void): void {
  closers.add(close)
}

export function tellFilesFollow(now: boolean): void {
  follow = now
  if (!now) for (const close of closers) close()
}
