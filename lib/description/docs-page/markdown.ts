/** Markdown: the few forms that texts of the OpenAPI document have, as HTML: paragraphs, headings, lists and code. */
import { escapeText } from '../diagram/svg.ts'

/**
 * Returns the HTML of a text.
 *
 * @param level level of the headings
 */
export function renderMarkdown(text: string, level = 3): string {
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

/** Code stands between backticks, two of them where the code has one. */
export function renderInline(text: string): string {
  return text
    .split(/(``?)(?!`)(.+?)(?<!`)\1(?!`)/)
    .map((part, index) => (index % 3 === 0 ? escapeText(part) : index % 3 === 1 ? '' : `<code>${escapeText(part)}</code>`))
    .join('')
}
