/** Markdown: turns the Markdown of OpenAPI documents into HTML: paragraphs, headings, lists and code. */
import { escapeText } from '../diagram/svg.ts'

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

/** Code may be between double backticks. */
export function renderInline(text: string): string {
  return text
    .split(/(``?)(?!`)(.+?)(?<!`)\1(?!`)/)
    .map((part, index) => (index % 3 === 0 ? escapeText(part) : index % 3 === 1 ? '' : `<code>${escapeText(part)}</code>`))
    .join('')
}
