/** Keeps statements, compiled once for each form of callers' scopes. */
import { LruCache } from '../../foundation/base/lru-cache.ts'
import type { Awaitable } from '../../foundation/async/awaitable.ts'
import type { Resource } from '../../model/model.ts'
import type { PendingRule, Visibility } from '../plan/visibility.ts'
import { LastPlans, findOrMake, type CacheStep } from '../read/plan-cache.ts'

const FORMS = 200

export class ScopedStatements<T> {
  readonly #forms = new LruCache<CacheStep<T>>(FORMS)
  readonly #last = new LastPlans<T>()

  find(resource: Resource, visibility: Visibility, compile: (visibility: Visibility) => T): Awaitable<T> {
    const known = this.#last.find(resource, visibility)
    if (known !== undefined) return known
    const rules: PendingRule[] = []
    const found = findOrMake(this.#forms, '', visibility, compile, rules)
    if (!(found instanceof Promise)) this.#last.keep(found, rules, resource, visibility)
    return found
  }
}
