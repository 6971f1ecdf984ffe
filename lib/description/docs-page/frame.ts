/** Frame: what all docs pages have in common: head, title, links to versions and views. It refers to files below the path of the page alone. */
import { escapeText } from '../diagram/svg.ts'
import { NO_VERSION } from '../../records/request/address.ts'

/** Where a page is, and what stands beside it. */
export interface PageFrame {
  readonly title: string
  /** The path of the docs page, with the base: `/api/docs`. */
  readonly path: string
  /** The path of the OpenAPI document. */
  readonly description: string
  /** The path of the document with details, for pages. */
  readonly detailed: string
  readonly version: string
  /** All versions; empty where paths have none. */
  readonly versions: readonly string[]
  readonly view: 'swagger' | 'model' | 'logIn'
  /** Whether Swagger UI is installed. */
  readonly hasSwagger: boolean
  /** Whether there is a log-in. */
  readonly hasLogIn: boolean
}

/** Returns a whole page. */
export function renderFrame(frame: PageFrame, main: string, contents = ''): string {
  const { title, path, view } = frame
  // The rules of our pages would reach into Swagger UI.
  const isOwn = view !== 'swagger'
  // It has a main of its own.
  const element = isOwn ? 'main' : 'div'
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeText(title)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${escapeText(path)}/frame.css">
${isOwn ? `<link rel="stylesheet" href="${escapeText(path)}/page.css">\n` : ''}<script defer src="${escapeText(path)}/page.js"></script>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
${renderTop(frame)}
${contents === '' ? '' : `<div class="columns">\n<nav class="contents" aria-label="Contents">${contents}</nav>`}
<${element} id="main" tabindex="-1">
${main}
</${element}>
${contents === '' ? '' : '</div>'}
</body>
</html>
`
}

/** Returns the path of a view of a version. */
export function findView({ path, versions }: PageFrame, view: PageFrame['view'] | 'start', version: string): string {
  const own = view === 'model' ? `${path}/model` : path
  return version === NO_VERSION || version === versions[0] ? own : `${own}?version=${encodeURIComponent(version)}`
}

function renderTop(frame: PageFrame): string {
  const { title, description, version, versions, view, hasSwagger, hasLogIn } = frame
  const link = (href: string, text: string, isCurrent: boolean): string =>
    `<a href="${escapeText(href)}"${isCurrent ? ' aria-current="page"' : ''}>${escapeText(text)}</a>`
  const views = hasSwagger
    ? [
        link(findView(frame, 'start', version), 'Swagger UI', view === 'swagger'),
        link(findView(frame, 'model', version), 'Model and examples', view === 'model'),
      ]
    : []
  const others =
    versions.length < 2
      ? []
      : versions.map(each => link(findView(frame, view === 'model' && hasSwagger ? 'model' : 'start', each), each, each === version))
  const out = hasLogIn ? '<button type="button" data-log-out hidden>Log out</button>' : ''
  return `<header class="top"><h1>${escapeText(title)}</h1><nav aria-label="Views">${[...others, ...views, link(description, 'openapi.json', false)].join('')}</nav>${out}</header>`
}
