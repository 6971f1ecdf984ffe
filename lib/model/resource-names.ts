/** Resource names: how an entity's class name becomes the resource names of the URL. English plurals come from the `pluralize` package. */
import pluralize from 'pluralize'
import { LruCache } from '../foundation/base/lru-cache.ts'

/** The words of a PascalCase, camelCase, snake_case or kebab-case name, in lower case. */
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

/** A word that is nothing but an ending stays as it is. */
function singularizeWord(word: string): string {
  return pluralize.singular(word) || word
}

function camel(list: readonly string[]): string {
  return list.map((word, index) => (index === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1))).join('')
}

/** As `camelCase`, of one of what the name is about: `order_items` is `orderItem`. */
export function camelSingular(name: string): string {
  return camel(withLastWord(words(name), singularizeWord))
}

/** As `camelCase`, of several of them: `order_item` is `orderItems`. */
export function camelPlural(name: string): string {
  return camel(withLastWord(withLastWord(words(name), singularizeWord), pluralize.plural))
}

/** The names of a resource: two canonical ones for bodies, and all that the URL accepts. */
export interface DefaultNames {
  /** Key of a list in a body, and canonical path segment: `blog_entries`. */
  readonly plural: string
  /** Key of a single record in a body: `blog_entry`. */
  readonly singular: string
  /** Every accepted path segment, canonical ones first. */
  readonly accepted: readonly string[]
}

/** The names of the last classes. Each version asks for them, and each engine of a test run; a plural is some hundred comparisons. */
const named = new LruCache<DefaultNames>(1000)

/**
 * The default names of an entity class.
 *
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
 * The class name of the entity that a resource name speaks of, or nothing when there is no letter or digit in it.
 *
 * @example entityName('blog-posts') // 'BlogPost'
 */
export function entityName(resourceName: string): string | undefined {
  const one = withLastWord(words(resourceName), pluralize.singular)
  const name = one.map(word => word.charAt(0).toUpperCase() + word.slice(1)).join('')
  // A class name is an identifier, which does not begin with a digit.
  return name === '' ? undefined : /^\d/.test(name) ? `_${name}` : name
}

/** Whether a name can be a segment of a path as it is: letters and digits of any script, and `. _ ~ -`. */
export function isResourceName(name: string): boolean {
  return /^[\p{L}\p{M}\p{N}_.~-]+$/u.test(name) && !/^\.\.?$/.test(name) && name !== '__proto__'
}

/** A name in camelCase, as properties are called; empty when there is no letter or digit in it. */
export function camelCase(name: string): string {
  return camel(words(name))
}

/** The plural of a name in any style: `blogPost` is `blogPosts`, `blog_post` is `blog_posts`. */
export function toPlural(name: string): string {
  return pluralize.plural(name)
}

/** The singular of a name in any style. */
export function toSingular(name: string): string {
  return pluralize.singular(name)
}
