/** Whether the names of a resource have all words of a search. */
import type { OutlinedResource } from '../../description/outline/outline-parts.ts'

export function matches({ name, singular, attributes }: OutlinedResource, words: string): boolean {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean)
  const names = [name, singular, ...attributes.map(attribute => attribute.name)].map(each => each.toLowerCase())
  return wanted.every(word => names.some(each => each.includes(word)))
}
