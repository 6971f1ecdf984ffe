/** Resource section: what the docs page says of one resource: requests, attributes with their filters, and all of its paths. */
import { escapeText } from '../diagram/svg.ts'
import type { PageAttribute, PageOperation, PageResource } from './described-api.ts'
import { listRequests } from './requests.ts'
import type { PageAddress, ShownRequest } from './requests.ts'

interface SectionParts {
  readonly address: PageAddress
  /** The anchors of resources, by their names. */
  readonly anchors: ReadonlyMap<string, string>
}

/** Returns the name of the place of a resource: letters, digits and what tells names apart. */
export function anchorOf(name: string, index: number): string {
  return /^[a-z][\w-]*$/i.test(name) ? `resource-${name}` : `resource-${index}`
}

/** Returns the section of a resource. */
export function renderResource(resource: PageResource, parts: SectionParts): string {
  const { name, description, operations, attributes, paths, example } = resource
  const anchor = parts.anchors.get(name)!
  const requests = listRequests(resource, parts.address)
  return [
    `<section id="${anchor}" aria-labelledby="${anchor}-title"><h2 id="${anchor}-title">${escapeText(name)}</h2>`,
    `<p>${escapeText(description)}</p>`,
    ...(requests.length === 0 ? [] : ['<h3>Requests</h3>', ...requests.map(renderRequest)]),
    '<h3>Attributes and filters</h3>',
    renderAttributes(attributes, name),
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
          `<details><summary>A record</summary><pre tabindex="0"><code>${escapeText(JSON.stringify(example, undefined, 2))}</code></pre></details>`,
        ]),
    `<details><summary>All paths (${operations.length})</summary>${renderOperations(operations, `Paths of ${name}`, parts.address)}</details>`,
    '</section>',
  ].join('\n')
}

export function renderRequest({ title, command, link }: ShownRequest): string {
  const text = link === undefined ? escapeText(title) : `<a href="${escapeText(link)}">${escapeText(title)}</a>`
  return `<div class="request" data-title="${escapeText(title)}"><p>${text}</p><div class="command"><pre tabindex="0"><code>${escapeText(command)}</code></pre></div></div>`
}

export function renderOperations(operations: readonly PageOperation[], label: string, { base }: PageAddress): string {
  const rows = operations.map(
    ({ method, path, summary }) =>
      `<tr><th scope="row"><span class="method ${method.toLowerCase()}">${method}</span> <code>${escapeText(base + path)}</code></th><td class="wide">${escapeText(summary)}</td></tr>`,
  )
  return renderTable(label, ['Path', 'What it does'], rows)
}

function renderAttributes(attributes: readonly PageAttribute[], name: string): string {
  const rows = attributes.map(
    ({ name: own, type, notes, mayBeEmpty, isRelation, operators }) =>
      `<tr><th scope="row"><code>${escapeText(own)}</code></th><td>${escapeText(type)}${mayBeEmpty && !(isRelation && type.endsWith('[]')) ? ' or null' : ''}</td><td>${operators.map(operator => `<code>${escapeText(operator)}</code>`).join(' ')}</td><td class="wide">${escapeText(notes.join('; '))}</td></tr>`,
  )
  return renderTable(`Attributes of ${name}`, ['Name', 'Type', 'Filters', 'Notes'], rows)
}

function renderTable(label: string, heads: readonly string[], rows: readonly string[]): string {
  const head = heads.map(text => `<th scope="col">${text}</th>`).join('')
  return `<div class="scroll" tabindex="0" role="region" aria-label="${escapeText(label)}"><table><thead><tr>${head}</tr></thead><tbody>${rows.join('')}</tbody></table></div>`
}
