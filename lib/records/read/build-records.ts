/** Makes JSON records of a plan's rows, still without relations, and counts their bytes. */
import { thresholds } from '../../foundation/base/thresholds.ts'
import type { Arguments, PendingRender } from '../database/bind.ts'
import type { CompiledNode, Row } from '../database/dialect.ts'

export type JsonRecord = Record<string, unknown>

/** @param times how often each row is shown; undefined: once */
export function weigh(
  rows: readonly Row[],
  { bytes: each, long, areIds }: CompiledNode,
  times: readonly number[] | undefined,
  at: string | undefined,
  { room }: Arguments,
): void {
  if (room === undefined) return
  let count = 0
  let bytes = 0
  for (let index = 0; index < rows.length; index++) {
    const row = rows[index]!
    let size = each
    for (const place of long) {
      const value = row[place]
      if (typeof value === 'string') size += value.length
      else if (value instanceof Uint8Array) size += Math.ceil(value.length / 3) * 4
    }
    const shown = times === undefined ? 1 : times[index]!
    count += shown
    bytes += shown * size
  }
  room.take(count, bytes, areIds, at)
}

export function weighIds(ids: readonly unknown[], { bytes, long }: CompiledNode): number {
  let size = ids.length * bytes
  if (long.length > 0) for (const id of ids) if (typeof id === 'string') size += id.length
  return size
}

export function build(rows: readonly Row[], node: CompiledNode, given: Arguments): JsonRecord[] {
  const records: JsonRecord[] = []
  if (rows.length < thresholds.recordsInTurn || given.end === undefined) for (const row of rows) records.push(node.build(row) as JsonRecord)
  else
    for (const [index, row] of rows.entries()) {
      if (index % thresholds.recordsInTurn === 0) given.end.checkTime()
      records.push(node.build(row) as JsonRecord)
    }
  if (node.source !== undefined) collectRenders(rows, records, node, given)
  return records
}

function collectRenders(rows: readonly Row[], records: readonly JsonRecord[], node: CompiledNode, given: Arguments): void {
  for (const [index, row] of rows.entries()) {
    const stored = node.source!(row) as JsonRecord
    for (const { name, within, render, only } of node.renders) {
      if (only?.(row) === false) continue
      if (within === undefined) given.pending?.push({ record: records[index]!, name, render, stored })
      else
        for (const found of inside(records[index]!, stored, within))
          if (name in found.record) given.pending?.push({ ...found, name, render })
    }
  }
}

/** Finds embedded objects at a path, in lists too. */
function inside(shown: unknown, stored: unknown, within: readonly string[]): Pick<PendingRender, 'record' | 'stored'>[] {
  if (typeof shown !== 'object' || shown === null) return []
  if (Array.isArray(shown)) return shown.flatMap((member, index) => inside(member, (stored as unknown[])[index], within))
  const [name, ...rest] = within
  const [record, values] = [shown as JsonRecord, stored as JsonRecord]
  return name === undefined ? [{ record, stored: values }] : inside(record[name], values[name], rest)
}
