/** Renders one resource for the docs page and the workbench: requests, attributes, filters, paths. */
import { escapeText } from '../diagram/svg.ts'
import type { PageAttribute, PageOperation, PageResource } from './described-api.ts'
import { listRequests, type PageAddress, type ShownRequest } from './requests.ts'

interface SectionParts {
  readonly address: PageAddress
  readonly places: ReadonlyMap<string, string>
  /** Empty: the page is the workbench. Undefined: the server has no workbench. */
  readonly workbench: string | undefined
}

/** By index, where the name has special characters. */
export function anchorOf(name: string, index: number): string {
  return /^[a-z][\w-]*$/i.test(name) ? `resource-${name}` : `resource-${index}`
}

export function renderResource(resource: PageResource, anchor: string, parts: SectionParts): string {
  const { name, description } = resource
  const records =
    parts.workbench === undefined || resource.list === undefined
      ? ''
      : ` <a href="${escapeText(`${parts.workbench}#/data/${encodeURIComponent(name)}`)}">Its records in the workbench</a>.`
  return [
    `<section id="${anchor}" aria-labelledby="${anchor}-title"><h2 id="${anchor}-title">${escapeText(name)}</h2>`,
    `<p>${escapeText(description)}${records}</p>`,
    renderResourceParts(resource, parts, 3),
    '</section>',
  ].join('\n')
}

export function renderResourceParts(resource: PageResource, parts: SectionParts, level: 2 | 3): string {
  const { name, operations, attributes, paths, example } = resource
  const requests = listRequests(resource, parts.address)
  const heading = (text: string): string => `<h${level}>${text}</h${level}>`
  return [
    ...(requests.length === 0 ? [] : [heading('Requests'), ...requests.map(request => renderRequest(request, parts.workbench))]),
    heading('Attributes and filters'),
    renderAttributes(attributes, name, parts.places),
    ...(paths.length === 0
      ? []
      : [
          `<p>Filters behind relations: ${paths
            .slice(0, 40)
            .map(path => `<code>${escapeText(path)}</code>`)
            .join(' ')}${paths.length > 40 ? ` and ${paths.length - 40} more` : ''}.</p>`,
        ]),
    ...(example === undefined
      ? []
      : [
          '<details><summary>A record</summary><pre tabindex="0">' +
            `<code>${escapeText(JSON.stringify(example, undefined, 2))}</code></pre></details>`,
        ]),
    '<details>' +
      `<summary>All paths (${operations.length})</summary>${renderOperations(operations, `Paths of ${name}`, parts.address)}</details>`,
  ].join('\n')
}

export function renderRequest({ title, command, link, place }: ShownRequest, workbench?: string): string {
  const anchor = (href: string, text: string, more = ''): string => `<a${more} href="${escapeText(href)}">${escapeText(text)}</a>`
  const isSent = workbench !== undefined && place !== undefined
  const label = isSent
    ? `${escapeText(title)} ${anchor(workbench + place, 'Send', ` class="send" aria-label="${escapeText(`Send: ${title}`)}"`)}`
    : link === undefined
      ? escapeText(title)
      : anchor(link, title)
  return (
    `<div class="request" data-title="${escapeText(title)}"><p>${label}</p><div class="command">` +
    `<pre tabindex="0"><code>${escapeText(command)}</code></pre></div></div>`
  )
}

export function renderOperations(operations: readonly PageOperation[], label: string, { base }: PageAddress): string {
  const rows = operations.map(
    ({ method, path, summary }) =>
      `<tr><th scope="row"><span class="method ${method.toLowerCase()}">${method}</span> ` +
      `<code>${escapeText(base + path)}</code></th><td class="wide">${escapeText(summary)}</td></tr>`,
  )
  return renderTable(label, ['Path', 'What it does'], rows)
}

function renderAttributes(attributes: readonly PageAttribute[], name: string, places: ReadonlyMap<string, string>): string {
  const rows = attributes.map(attribute => {
    const { name: own, notes, operators } = attribute
    const filters = operators.map(operator => `<code>${escapeText(operator)}</code>`).join(' ')
    return (
      `<tr><th scope="row"><code>${escapeText(own)}</code></th><td>${renderType(attribute, places)}</td>` +
      `<td>${filters}</td><td class="wide">${escapeText(notes.join('; '))}</td></tr>`
    )
  })
  return renderTable(`Attributes of ${name}`, ['Name', 'Type', 'Filters', 'Notes'], rows)
}

function renderType({ type, target, mayBeEmpty, isRelation }: PageAttribute, places: ReadonlyMap<string, string>): string {
  const place = target === undefined ? undefined : places.get(target)
  const text = place === undefined ? escapeText(type) : `<a href="${escapeText(place)}">${escapeText(type)}</a>`
  return `${text}${mayBeEmpty && !(isRelation && type.endsWith('[]')) ? ' or null' : ''}`
}

function renderTable(label: string, heads: readonly string[], rows: readonly string[]): string {
  const head = heads.map(text => `<th scope="col">${text}</th>`).join('')
  return (
    `<div class="scroll" tabindex="0" role="region" aria-label="${escapeText(label)}">` +
    `<table><thead><tr>${head}</tr></thead><tbody>${rows.join('')}</tbody></table></div>`
  )
}
