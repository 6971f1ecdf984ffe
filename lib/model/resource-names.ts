/** Makes a resource's names from the class name: `BlogEntry` gives `/v1/blog_entries`, with plurals of `pluralize`. */
import pluralize from 'pluralize'
import { LruCache } from '../foundation/base/lru-cache.ts'

/** Splits PascalCase, camelCase, snake_case or kebab-case, in lower case. */
export function words(name: string): string[] {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9\u0080-\uffff]+/)
    .filter(word => word !== '')
}

function withLastWord(list: readonly string[], change: (word: string) => string): string[] {
  return list.map((word, index) => (index === list.length - 1 ? change(word) : word))
}

/** `pluralize` would leave nothing of `s`. */
function singularizeWord(word: string): string {
  return pluralize.singular(word) || word
}

function camel(list: readonly string[]): string {
  return list.map((word, index) => (index === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1))).join('')
}

/** `order_items` gives `orderItem`. */
export function camelSingular(name: string): string {
  return camel(withLastWord(words(name), singularizeWord))
}

/** `order_item` gives `orderItems`. */
export function camelPlural(name: string): string {
  return camel(withLastWord(withLastWord(words(name), singularizeWord), pluralize.plural))
}

export interface DefaultNames {
  /** Key of a list in a body, and main path segment: `blog_entries`. */
  readonly plural: string
  /** Key of a record in a body: `blog_entry`. */
  readonly singular: string
  /** Path segments, main ones first. */
  readonly accepted: readonly string[]
}

/** A plural costs some hundred comparisons, and each version of each engine asks. */
const named = new LruCache<DefaultNames>(1000)

/**
 * @example defaultNames('BlogEntry').accepted // ['blog_entries', 'blog_entry', 'blog-entries', 'blog-entry', 'blogEntries', 'blogEntry']
 */
export function defaultNames(className: string): DefaultNames {
  const known = named.get(className)
  if (known !== undefined) return known
  const names = computeNames(className)
  named.set(className, names)
  return names
}

function computeNames(className: string): DefaultNames {
  const one = withLastWord(words(className), singularizeWord)
  const many = withLastWord(one, pluralize.plural)
  const forms = [many.join('_'), one.join('_'), many.join('-'), one.join('-'), camel(many), camel(one)]
  return Object.freeze({ plural: many.join('_'), singular: one.join('_'), accepted: Object.freeze([...new Set(forms)]) })
}

/**
 * Undefined for a name without letters and digits.
 *
 * @example entityName('blog-posts') // 'BlogPost'
 */
export function entityName(resourceName: string): string | undefined {
  const one = withLastWord(words(resourceName), pluralize.singular)
  const name = one.map(word => word.charAt(0).toUpperCase() + word.slice(1)).join('')
  // An identifier does not begin with a digit.
  return name === '' ? undefined : /^\d/.test(name) ? `_${name}` : name
}

export function isResourceName(name: string): boolean {
  return /^[\p{L}\p{M}\p{N}_.~-]+$/u.test(name) && !/^\.\.?$/.test(name) && name !== '__proto__'
}

export function camelCase(name: string): string {
  return camel(words(name))
}

/** `blogPost` gives `blogPosts`, `blog_post` gives `blog_posts`. */
export function toPlural(name: string): string {
  return pluralize.plural(name)
}

export function toSingular(name: string): string {
  return pluralize.singular(name)
}
