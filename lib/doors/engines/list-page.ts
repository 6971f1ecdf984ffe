/** The page of the list of engines, with a script for updates. */

export const LIST_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Engines · mikro-rest</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/list.css">
<script type="module" src="/list.js"></script>
</head>
<body>
<main>
<h1>Engines of the tests that run</h1>
<p id="state" role="status"></p>
<div id="list"></div>
<noscript><p>The list is a page of scripts, and this browser runs none: /engines.json has the same.</p></noscript>
</main>
</body>
</html>
`

export const LIST_STYLE = `
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
body { margin: 0; background: Canvas; color: CanvasText }
main { max-width: 60rem; margin: 0 auto; padding: 1rem }
h1 { font-size: 1.4rem }
h2 { font-size: 1rem; margin: 1.5rem 0 0.25rem; overflow-wrap: anywhere }
ul { list-style: none; margin: 0; padding: 0 }
li { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; align-items: baseline; padding: 0.5rem 0; overflow-wrap: anywhere }
li { border-top: 1px solid GrayText }
li a { font-weight: 600; flex: 1 1 20rem }
li p { flex: 1 0 100%; margin: 0; white-space: pre-wrap }
button { font: inherit; padding: 0.1rem 0.75rem }
`

export const LIST_SCRIPT = `
const list = document.getElementById('list')
const state = document.getElementById('state')
const QUIET = 'No engine is open now. A test that is quick ends before one looks: ' +
  'MIKRO_REST_WORKBENCH_WAIT=1 has each engine wait at its end.'
let shown = ''

const add = (parent, name, text = '', attributes = {}) => {
  const made = document.createElement(name)
  made.textContent = text
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  parent.append(made)
  return made
}

const tell = text => {
  if (state.textContent !== text) state.textContent = text
}

const letGo = async id => {
  await fetch('/go/' + id, { method: 'POST' }).catch(() => {})
  await update()
}

const draw = ({ pid, name, engines }) => {
  const focused = document.activeElement?.dataset.key
  list.replaceChildren()
  if (engines.length > 0) add(list, 'h2', name + ', process ' + pid)
  const items = add(list, 'ul')
  for (const engine of engines) {
    const item = add(items, 'li')
    add(item, 'a', engine.name, { href: '/open/' + engine.id, 'data-key': engine.id })
    add(item, 'span', engine.place)
    add(item, 'span', engine.requests === 1 ? '1 request' : engine.requests + ' requests', { 'data-requests': engine.id })
    if (engine.waits)
      add(item, 'button', 'Let it go', {
        type: 'button', 'aria-label': 'Let go: ' + engine.name, 'data-key': 'go ' + engine.id,
      }).onclick = () => letGo(engine.id)
    if (engine.failure !== undefined) add(item, 'p', 'Failed: ' + engine.failure)
  }
  if (focused !== undefined) for (const each of list.querySelectorAll('[data-key]')) if (each.dataset.key === focused) each.focus()
}

const update = async () => {
  const answer = await fetch('/engines.json').then(found => found.json()).catch(() => undefined)
  const process = answer ?? { engines: [] }
  const text = JSON.stringify(process)
  if (text !== shown) draw(process)
  shown = text
  const waiting = process.engines.filter(({ waits }) => waits).length
  tell(
    answer === undefined
      ? 'The process does not answer: its tests are over.'
      : process.engines.length === 0
        ? QUIET
        : waiting === 0
          ? ''
          : waiting === 1
            ? '1 engine waits at its end, and its test with it, until it is let go.'
            : waiting + ' engines wait at their end, and their tests with them, until they are let go.',
  )
}

for (;;) {
  await update()
  await new Promise(resolve => setTimeout(resolve, 700))
}
`
