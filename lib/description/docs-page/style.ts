/** The style sheet of the docs pages. Loads nothing from elsewhere. */
import { DARK, DIAGRAM_STYLE, LIGHT } from '../diagram/svg.ts'

/** Minimum pixel widths of the diagram, each with a class, since `style-src 'self'` forbids inline styles. */
export const WIDTHS = Array.from({ length: 60 }, (_, index) => (index + 1) * 100)
/** Minimum size of the diagram, as a part of its own width. */
export const SMALLEST = 0.7

export const PAGE_STYLE = `
:root { color-scheme: light dark; ${LIGHT} --good: #17693a; --write: #8a4b00; --danger: #a3262b; }
@media (prefers-color-scheme: dark) { :root { ${DARK} --good: #7fd6a1; --write: #f2bd7a; --danger: #ff9b9f; } }
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body {
  margin: 0; background: var(--page); color: var(--text);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif;
}
a:focus-visible, button:focus-visible, summary:focus-visible, input:focus-visible, [tabindex]:focus-visible {
  outline: 3px solid var(--accent); outline-offset: 2px;
  border-radius: 4px;
}
.skip { position: absolute; left: -100vw; }
.skip:focus { left: 1rem; top: 1rem; background: var(--surface); padding: .5rem 1rem; z-index: 1; }
header.top {
  display: flex; flex-wrap: wrap; gap: .4rem 1.5rem; align-items: baseline; padding: 1rem 1.5rem;
  border-bottom: 1px solid var(--border); background: var(--surface);
}
header.top h1 { font-size: 1.25rem; margin: 0; }
header.top nav { display: flex; flex-wrap: wrap; gap: .4rem 1.1rem; }
header.top nav a { padding: .2rem 0; }
header.top nav a[aria-current="page"] { font-weight: 700; color: var(--text); text-decoration: none; }
header.top a, main > a { color: var(--accent); }
button[data-log-out] {
  font: inherit; font-size: .85rem; color: var(--text); background: var(--surface); border: 1px solid var(--border);
  border-radius: 6px; padding: .3rem .7rem; cursor: pointer;
}
@media (max-width: 60rem) { header.top { padding: .8rem 1rem; } }
a { color: var(--accent); }
.columns { display: grid; grid-template-columns: 15rem minmax(0, 1fr); max-width: 100rem; margin: 0 auto; }
.contents {
  position: sticky; top: 0; align-self: start; max-height: 100vh; overflow-y: auto;
  padding: 1.5rem 1rem 1.5rem 1.5rem; font-size: .93rem;
}
.contents ul { list-style: none; margin: 0 0 1rem; padding: 0; }
.contents a { display: block; padding: .2rem .5rem; border-radius: 4px; text-decoration: none; overflow-wrap: anywhere; }
.contents a:hover { background: var(--head); }
.contents p {
  margin: .8rem .5rem .2rem; color: var(--muted); font-size: .8rem; font-weight: 600;
  letter-spacing: .04em; text-transform: uppercase;
}
main { min-width: 0; padding: 1.5rem 1.5rem 4rem; }
section { margin: 0 0 3rem; }
h2 { font-size: 1.35rem; margin: 0 0 .5rem; padding-top: .3rem; overflow-wrap: anywhere; }
h3 { font-size: 1.02rem; margin: 1.6rem 0 .5rem; }
p, ul { max-width: 52rem; margin: .4rem 0; }
.muted { color: var(--muted); }
.scroll { overflow-x: auto; border: 1px solid var(--border); border-radius: 8px; }
table { border-collapse: collapse; width: 100%; font-size: .93rem; }
th, td { text-align: left; vertical-align: top; padding: .38rem .8rem; border-top: 1px solid var(--border); }
thead th { border-top: 0; background: var(--head); font-weight: 600; white-space: nowrap; }
tbody th { font-weight: 400; white-space: nowrap; }
td.wide { min-width: 12rem; }
code, pre { font: .86em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
code { background: var(--code); border-radius: 4px; padding: .1em .3em; overflow-wrap: break-word; }
td code, th code { white-space: nowrap; }
pre { margin: 0; padding: .7rem .9rem; background: var(--code); overflow-x: auto; border-radius: 8px; flex: 1; min-width: 0; }
pre code { background: none; padding: 0; }
.request { margin: .7rem 0; }
.request p { margin: 0 0 .2rem; font-size: .93rem; }
.request .send { margin-left: .6rem; }
.command { display: flex; gap: .5rem; align-items: start; }
button {
  font: inherit; font-size: .85rem; color: var(--text); background: var(--surface); border: 1px solid var(--border);
  border-radius: 6px; padding: .4rem .7rem; cursor: pointer;
}
button:hover { background: var(--head); }
.method {
  display: inline-block; min-width: 4.4em; color: var(--write);
  font: 700 .8rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
.method.get { color: var(--good); }
.method.delete { color: var(--danger); }
details { margin: .8rem 0; }
summary { cursor: pointer; padding: .2rem 0; }
.picture { overflow: auto; max-height: 85vh; border: 1px solid var(--border); border-radius: 8px; background: var(--page); }
.picture svg { display: block; margin: 0 auto; max-width: 100%; height: auto; }
${WIDTHS.map(width => `.least-${width} svg { min-width: ${width}px; }`).join('\n')}
.legend {
  display: flex; flex-wrap: wrap; gap: .2rem 1.4rem; padding: 0; list-style: none;
  font-size: .9rem; color: var(--muted); max-width: none;
}
.legend svg { vertical-align: middle; margin-right: .4rem; }
form { display: grid; gap: .8rem; max-width: 22rem; margin: 1rem 0; }
label { display: grid; gap: .2rem; font-weight: 600; font-size: .93rem; }
input {
  font: inherit; padding: .5rem .6rem; border: 1px solid var(--muted);
  border-radius: 6px; background: var(--page); color: var(--text);
}
form button { font-size: 1rem; justify-self: start; }
.problem { color: var(--danger); min-height: 1.5em; margin: 0; }
${DIAGRAM_STYLE}
@media (max-width: 60rem) {
  .columns { display: block; }
  .contents { position: static; max-height: none; padding: 1rem 1rem 0; }
  .contents ul { display: flex; flex-wrap: wrap; gap: 0 .3rem; margin: 0; }
  main { padding: 1rem 1rem 3rem; }
  .command { display: block; }
  .command button { margin-top: .3rem; }
  .picture { max-height: 70vh; }
}
@media print { .contents, .command button { display: none; } .columns { display: block; } }
`
