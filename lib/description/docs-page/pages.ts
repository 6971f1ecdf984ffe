/** Renders the docs page of an API, or a log-in form. */
import type { Diagram } from '../diagram/diagram-parts.ts'
import { describeRelation, drawDiagram, escapeText } from '../diagram/svg.ts'
import { writeMermaid } from '../diagram/mermaid.ts'
import type { PageApi } from './described-api.ts'
import { findWorkbench, renderFrame, type PageFrame } from './frame.ts'
import { SMALLEST, WIDTHS } from './style.ts'
import { findFirstRequests, writeLogIn, type PageAddress } from './requests.ts'
import { anchorOf, renderOperations, renderRequest, renderResource } from './resource-section.ts'

export function renderModelPage(
  frame: PageFrame,
  api: PageApi,
  diagram: Diagram,
  address: PageAddress,
  logIn: readonly [string, string] | undefined,
): string {
  const workbench = findWorkbench(frame)
  const anchors = new Map(api.resources.map(({ name }, index) => [name, anchorOf(name, index)]))
  const places = new Map([...anchors].map(([name, anchor]) => [name, `#${anchor}`]))
  const contents = [
    '<p>Overview</p><ul><li><a href="#start">Start</a></li><li><a href="#diagram">Diagram</a></li>' +
      '<li><a href="#rules">Rules</a></li><li><a href="#errors">Errors</a></li></ul>',
    '<p>Resources</p>' +
      `<ul>${api.resources.map(({ name }) => `<li><a href="#${anchors.get(name)!}">${escapeText(name)}</a></li>`).join('')}</ul>`,
  ].join('')
  const main = [
    renderStart(frame, api, address, logIn),
    renderDiagram(diagram, workbench),
    ...api.resources.map(resource => renderResource(resource, anchors.get(resource.name)!, { address, places, workbench })),
    `<section id="rules" aria-labelledby="rules-title"><h2 id="rules-title">Rules</h2>${renderMarkdown(api.rules)}</section>`,
    renderErrors(api),
  ]
  return renderFrame(frame, main.join('\n'), contents)
}

/**
 * Shows no resource of the API.
 *
 * @param logIn path, and names of two members. Undefined: asks for a token
 */
export function renderLogInPage(
  frame: PageFrame,
  logIn: { readonly path: string; readonly names: readonly [string, string] } | undefined,
  refusal: string | undefined,
): string {
  const input = (label: string, name: string, type: string, complete: string): string =>
    `<label>${escapeText(label)}<input name="${escapeText(name)}" type="${type}" autocomplete="${complete}" required></label>`
  const inputs =
    logIn === undefined
      ? input('Token', 'token', 'password', 'off')
      : input(logIn.names[0], logIn.names[0], 'text', 'username') + input(logIn.names[1], logIn.names[1], 'password', 'current-password')
  const action = logIn === undefined ? '' : ` data-action="${escapeText(logIn.path)}"`
  const main = [
    '<p>This API shows its description to those who have logged in.</p>',
    `<form${action} method="post">${inputs}<button type="submit">Log in</button>` +
      `<p class="problem" role="alert">${escapeText(refusal ?? '')}</p></form>`,
    '<noscript><p>The form needs JavaScript.</p></noscript>',
  ]
  return renderFrame(frame, main.join('\n'))
}

function renderStart(frame: PageFrame, api: PageApi, address: PageAddress, logIn: readonly [string, string] | undefined): string {
  const { description } = frame
  const count = `${api.resources.length} resource${api.resources.length === 1 ? '' : 's'}`
  const version = address.version === '' ? '' : `/${address.version}`
  const entering = writeLogIn(api, logIn, address)
  return [
    '<section id="start" aria-labelledby="start-title"><h2 id="start-title">Start</h2>',
    `<p>${count} at <code>${escapeText(address.origin + address.base + version)}</code>. ` +
      `The same as a document for tools: <a href="${escapeText(description)}">openapi.json</a>.</p>`,
    ...(entering === undefined
      ? []
      : [renderRequest({ kind: 'write', title: 'Log in, and keep the token for the commands below', command: entering })]),
    ...findFirstRequests(api, address).map(request => renderRequest(request, findWorkbench(frame))),
    ...(api.others.length === 0
      ? []
      : [
          `<details><summary>Other paths (${api.others.length})</summary>${renderOperations(api.others, 'Other paths', address)}</details>`,
        ]),
    '</section>',
  ].join('\n')
}

function renderDiagram(diagram: Diagram, workbench: string | undefined): string {
  const { relations } = diagram
  const sign = (path: string, text: string): string =>
    '<li><svg class="diagram" width="26" height="14" viewBox="0 0 26 14" aria-hidden="true">' +
    `<path class="line" d="M 0 7 H 26"/>${path}</svg>${text}</li>`
  // Shrinks with the page, but stays legible.
  const picture = drawDiagram(diagram, { title: 'Model', isWhole: false })
  const width = Number(/ width="(\d+)"/.exec(picture)?.[1])
  const least = WIDTHS.findLast(each => each <= width * SMALLEST) ?? 0
  return [
    '<section id="diagram" aria-labelledby="diagram-title"><h2 id="diagram-title">Diagram</h2>',
    `<div class="picture least-${least}" tabindex="0" role="region" aria-label="Diagram of the model">${picture}</div>`,
    '<ul class="legend" aria-label="Signs">',
    sign('<path class="sign" d="M 0 2 L 10 7 L 0 12"/>', 'any number'),
    sign('<path class="sign" d="M 6 2 V 12"/>', 'one'),
    sign('<path class="sign" d="M 6 2 V 12"/><circle class="ring" cx="12" cy="7" r="3.5"/>', 'at most one'),
    '</ul>',
    ...(workbench === undefined
      ? []
      : [`<p><a href="${escapeText(workbench)}#/model">The diagram in the workbench</a>, whose boxes open their records.</p>`]),
    ...(relations.length === 0
      ? []
      : [
          '<details><summary>Relations in words</summary>' +
            `<ul>${relations.map(relation => `<li>${escapeText(describeRelation(relation))}</li>`).join('')}</ul></details>`,
        ]),
    '<details><summary>As text for Mermaid</summary><div class="command" data-title="Mermaid">' +
      `<pre tabindex="0"><code>${escapeText(writeMermaid(diagram))}</code></pre></div></details>`,
    '</section>',
  ].join('\n')
}

function renderErrors({ failures }: PageApi): string {
  const rows = failures.map(
    ({ status, description }) => `<tr><th scope="row">${escapeText(status)}</th><td class="wide">${renderInline(description)}</td></tr>`,
  )
  return [
    '<section id="errors" aria-labelledby="errors-title"><h2 id="errors-title">Errors</h2>',
    '<p>Every refusal has one form: <code>status</code>, <code>code</code>, <code>title</code>, ' +
      '<code>detail</code>, and <code>errors</code> with the place of each error.</p>',
    '<div class="scroll" tabindex="0" role="region" aria-label="Table of errors"><table><thead><tr>' +
      `<th scope="col">Status</th><th scope="col">Meaning</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>`,
    '</section>',
  ].join('\n')
}

/** Markdown of OpenAPI documents as HTML: paragraphs, headings, lists and code. */
function renderMarkdown(text: string, level = 3): string {
  return text
    .split(/\n{2,}/)
    .map(block => {
      if (block.startsWith('## ')) return `<h${level}>${renderInline(block.slice(3))}</h${level}>`
      if (!block.startsWith('- ')) return `<p>${renderInline(block)}</p>`
      const items = block.split(/\n(?=- )/).map(item => `<li>${renderInline(item.slice(2))}</li>`)
      return `<ul>${items.join('')}</ul>`
    })
    .join('\n')
}

/** Code may be between double backticks. */
function renderInline(text: string): string {
  return text
    .split(/(``?)(?!`)(.+?)(?<!`)\1(?!`)/)
    .map((part, index) => (index % 3 === 0 ? escapeText(part) : index % 3 === 1 ? '' : `<code>${escapeText(part)}</code>`))
    .join('')
}
