/** Explains a request by its statements, with plans and hints at indexes. */
import type { IndexAdvice, IndexColumn, PlanStep, StatementsExplained } from '../../records/database/explained-statements.ts'
import { tableColumns, type EmbeddedAttribute, type Model, type Resource } from '../../model/model.ts'
import type { RestResponse } from '../../foundation/base/response.ts'
import { SECRET, type Masked, type Secrets } from './redact.ts'
import { summarizeTimes, type RunStatement, type Trace } from '../../foundation/async/trace.ts'
import type { Explanation, IndexHint } from './explanation.ts'

interface Explained {
  readonly method: string
  readonly path: string
  readonly trace: Trace
  readonly statements: readonly RunStatement[]
  readonly response: RestResponse
  readonly masked: Masked
  readonly secrets: Secrets
  readonly model: Model
  readonly hasEntities: boolean
}

export async function buildExplanation(explained: Explained, { statements, advice }: StatementsExplained): Promise<Explanation> {
  const { method, path, trace, response, masked, secrets, model, hasEntities } = explained
  const writes = new Set<string>()
  for (const way of trace.ways) writes.add(await way)
  return {
    method,
    path: masked.path + formatPath(path, masked),
    status: response.status,
    duration: Math.ceil(trace.total * 1000) / 1000,
    timing: summarizeTimes(trace),
    cached: trace.cached,
    writes: [...writes],
    statements: explained.statements.map(({ sql, parameters, duration, rows }, index) => {
      const { plan, columns, names, holdsValues = false } = statements[index]!
      // A parameter of an unknown column may belong to any named column.
      const isDoubtful = [...names].some(name => secrets.isSecretColumn(name))
      const isMasked = isDoubtful && holdsValues
      return {
        sql: isMasked ? maskLiterals(sql) : sql,
        parameters: parameters.map((value, at) => {
          const column = columns[at]
          const isSecret = column === undefined ? isDoubtful : secrets.isSecretColumn(column)
          return isSecret && value !== null ? SECRET : formatParameter(value, masked)
        }),
        duration: Math.round(duration * 1000) / 1000,
        rows,
        plan: isMasked ? plan.map(maskPlan) : plan,
      }
    }),
    hints: advice.map(each => buildHint(each, model, hasEntities)),
    response,
  }
}

function maskLiterals(text: string): string {
  return text.replaceAll(/'(?:[^']|'')*'/g, `'${SECRET}'`)
}

function maskPlan(step: PlanStep): PlanStep {
  return { ...step, detail: maskLiterals(step.detail), children: step.children.map(maskPlan) }
}

/** The query as sent in the path; with secrets, made of masked pairs. */
function formatPath(path: string, masked: Masked): string {
  if (masked.query.length === 0) return ''
  const isMasked = masked.query.some(([name, value]) => name.includes(SECRET) || value.includes(SECRET))
  const mark = path.indexOf('?')
  const sentPairs =
    mark < 0
      ? []
      : path
          .slice(mark + 1)
          .split('&')
          .filter(pair => pair !== '')
  if (sentPairs.length === masked.query.length && !isMasked) return path.slice(mark)
  return `?${masked.query.map(([name, value]) => (/[=<>]$/.test(name) ? name + value : `${name}=${value}`)).join('&')}`
}

function formatParameter(value: unknown, masked: Masked): string | number | null {
  if (typeof value === 'string') return masked.copy(value) as string
  if (typeof value === 'number') return value
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
  if (value instanceof Uint8Array) return `[${value.byteLength} bytes]`
  if (Array.isArray(value)) return masked.copy(JSON.stringify(value)) as string
  return null
}

function buildHint({ table, columns, reason, scanned, rows, sql }: IndexAdvice, model: Model, hasEntities: boolean): IndexHint {
  const resource = model.resources.find(other => other.table === table) ?? model.entities.find(other => other.table === table)
  const found = columns.map(({ column }) => (column === undefined || resource === undefined ? undefined : findPath(resource, column)))
  const attributes = columns.map(({ text, column }, index) => found[index]?.path ?? column ?? text)
  const properties = found.map(path => path?.property)
  // An index by MikroORM has the database's own collation and place of NULL.
  const isPlain = columns.every(isBare) && properties.every(property => property !== undefined)
  const entity =
    !hasEntities || resource === undefined || !isPlain
      ? undefined
      : properties.length === 1
        ? `${resource.className}.${properties[0]}: .index()`
        : `${resource.className}: indexes: [{ properties: [${properties.map(property => `'${property}'`).join(', ')}] }]`
  const served = resource?.served === true ? resource.plural : undefined
  const all = `all ${rows.toLocaleString('en')} rows of "${scanned}"`
  const by = `${attributes.map(attribute => `"${attribute}"`).join(', ')} of ${served ?? `"${table}"`}`
  const detail =
    reason === 'sort'
      ? `${all} are sorted; an index on ${by} would have them in order.`
      : `${all} are gone through; an index on ${by} would find what is wanted.`
  return { reason, table, scanned, rows, resource: served, attributes, sql, entity, detail }
}

function isBare({ text, column, descending }: IndexColumn): boolean {
  return !descending && text.replaceAll('""', '"') === `"${column}"`
}

/** The attribute as a query names it, and the property, if without other columns. */
function findPath(resource: Resource, column: string): { path: string; property: string | undefined } | undefined {
  for (const attribute of resource.attributes) {
    const columns = tableColumns(attribute)
    if (!columns.includes(column) || attribute.kind === 'toMany') continue
    if (attribute.kind === 'embedded') return { path: `${attribute.name}.${findInnerName(attribute, column)}`, property: undefined }
    return { path: attribute.name, property: columns.length === 1 ? attribute.property : undefined }
  }
  return undefined
}

function findInnerName(embedded: EmbeddedAttribute, column: string): string {
  const child = embedded.attributes.find(attribute => tableColumns(attribute).includes(column))
  if (child === undefined) return column
  return child.kind === 'embedded' ? `${child.name}.${findInnerName(child, column)}` : child.name
}
