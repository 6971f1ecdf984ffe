/** Formats a trace as a Server-Timing header for browsers (W3C Server Timing, section 4.1). */
import { summarizeTimes, type Trace } from '../work/trace.ts'

export const SERVER_TIMING = 'server-timing'

/** Returns `parse;dur=0.012, plan;dur=0.004;desc="cached", sql;dur=0.151;desc="2 statements", render;dur=0.03, total;dur=0.21`. */
export function formatServerTiming(trace: Trace): string {
  const { total, count, cached } = trace
  const metrics = Object.entries(summarizeTimes(trace)).map(([stage, duration]) => {
    const metric = `${stage};dur=${duration}`
    if (stage === 'sql') return `${metric};desc="${count} statement${count === 1 ? '' : 's'}"`
    return stage === 'plan' && cached !== undefined ? `${metric};desc="${cached ? 'cached' : 'new'}"` : metric
  })
  return [...metrics, `total;dur=${Math.ceil(total * 1000) / 1000}`].join(', ')
}
