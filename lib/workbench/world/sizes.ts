/** Writes bytes and durations for readers. */

export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  const [unit, by]: readonly [string, number] =
    bytes < 1_000_000 ? ['KB', 1000] : bytes < 1_000_000_000 ? ['MB', 1_000_000] : ['GB', 1_000_000_000]
  return `${(bytes / by).toFixed(1)} ${unit}`
}

export function formatSpan(milliseconds: number): string {
  if (milliseconds < 1000) return 'now'
  const seconds = Math.round(milliseconds / 1000)
  if (seconds < 60) return `${seconds} s ago`
  return seconds < 3600 ? `${Math.round(seconds / 60)} min ago` : `${Math.round(seconds / 3600)} h ago`
}
