/** Renders the frame that all docs pages share. Loads files only from below the page. */
import { escapeText } from '../diagram/svg.ts'
import { NO_VERSION } from '../../records/request/address.ts'

export interface PageFrame {
  readonly title: string
  /** `/api/docs` */
  readonly path: string
  /** Path of the document. */
  readonly description: string
  readonly version: string
  /** Empty: paths have no version. */
  readonly versions: readonly string[]
  /** Undefined: the server has no workbench. */
  readonly workbench: string | undefined
  readonly hasLogIn: boolean
}

export function renderFrame(frame: PageFrame, main: string, contents = ''): string {
  const { title, path } = frame
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeText(title)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${escapeText(path)}/page.css">
<script defer src="${escapeText(path)}/page.js"></script>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
${renderTop(frame)}
${contents === '' ? '' : `<div class="columns">\n<nav class="contents" aria-label="Contents">${contents}</nav>`}
<main id="main" tabindex="-1">
${main}
</main>
${contents === '' ? '' : '</div>'}
</body>
</html>
`
}

/** Keeps the version of the page. */
export function findWorkbench({ workbench, version, versions }: PageFrame): string | undefined {
  return workbench === undefined ? undefined : inVersion(workbench, version, versions)
}

function inVersion(path: string, version: string, versions: readonly string[]): string {
  return version === NO_VERSION || version === versions[0] ? path : `${path}?version=${encodeURIComponent(version)}`
}

function renderTop(frame: PageFrame): string {
  const { title, path, description, version, versions, hasLogIn } = frame
  const workbench = findWorkbench(frame)
  const link = (href: string, text: string, isCurrent = false): string =>
    `<a href="${escapeText(href)}"${isCurrent ? ' aria-current="page"' : ''}>${escapeText(text)}</a>`
  const links = [
    ...(versions.length < 2 ? [] : versions.map(each => link(inVersion(path, each, versions), each, each === version))),
    ...(workbench === undefined ? [] : [link(workbench, 'Workbench')]),
    link(description, 'openapi.json'),
  ]
  const out = hasLogIn ? '<button type="button" data-log-out hidden>Log out</button>' : ''
  return `<header class="top"><h1>${escapeText(title)}</h1><nav aria-label="Views">${links.join('')}</nav>${out}</header>`
}
