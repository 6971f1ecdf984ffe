/** Collects the errors of a body by place (`address.0.city`), and knows permissions. */
import { withCapitalArticle } from '../../foundation/base/article.ts'
import type { FieldErrors } from '../../foundation/json/body-errors.ts'
import type { FieldError } from '../../foundation/errors/errors.ts'
import { findNearest, formatHint } from '../../foundation/base/suggest.ts'
import type { Dialect } from '../database/dialect.ts'
import type { Attribute, Resource } from '../../model/model.ts'
import type { References } from './references.ts'
import { EVERYTHING, describeUnreadable, namesReadableByAll, type Visibility } from '../plan/visibility.ts'

export interface ValidationRules {
  readonly dialect: Pick<Dialect, 'describeUnstorable'>
  /** Seeds may set what clients may only read. */
  readonly seeding?: boolean
  /** Accepts IDs that no path can name, such as `..` in a JSON file. */
  readonly keepsUnreachable?: boolean
  /** Links to records hidden from the caller are errors. Default: none is hidden. */
  readonly visibility?: Visibility
  readonly references: References
}

export class ValidationContext {
  readonly errors: FieldErrors
  readonly dialect: Pick<Dialect, 'describeUnstorable'>
  readonly seeding: boolean
  readonly keepsUnreachable: boolean
  readonly visibility: Visibility
  readonly references: References
  /** Dotted path; empty for the body itself. */
  readonly path: string

  constructor(
    errors: FieldErrors,
    { dialect, seeding = false, keepsUnreachable = false, visibility = EVERYTHING, references }: ValidationRules,
    path = '',
  ) {
    this.errors = errors
    this.dialect = dialect
    this.seeding = seeding
    this.keepsUnreachable = keepsUnreachable
    this.visibility = visibility
    this.references = references
    this.path = path
  }

  at(name: string | number): ValidationContext {
    return new ValidationContext(this.errors, this, joinPath(this.path, name))
  }

  /**
   * Undefined, as validators return for invalid values.
   *
   * @param text the end of the sentence, after the path
   */
  error(code: FieldError['code'], text: string, more: Partial<FieldError> = {}): undefined {
    this.errors.push({ code, detail: `"${this.path}" ${text}`, attribute: this.path, ...more })
    return undefined
  }

  /**
   * @param noun what has no such attribute
   * @param found an attribute of the name that exists, but not for this caller
   */
  unknownAttribute(name: string, noun: string, attributes: () => readonly Attribute[], found?: Attribute): undefined {
    this.errors.describe(() => {
      const names = namesReadableByAll(attributes().filter(attribute => !attribute.readOnly))
      const suggestion = findNearest(name, names)
      return {
        code: 'attribute_unknown',
        detail:
          describeUnreadable(found) ?? `${withCapitalArticle(noun)} has no attribute "${name.slice(0, 100)}".${formatHint(suggestion)}`,
        attribute: this.path,
        allowed: names,
        ...(suggestion === undefined ? {} : { suggestion }),
      }
    })
    return undefined
  }
}

export function joinPath(path: string, name: string | number): string {
  return path === '' ? String(name) : `${path}.${name}`
}

export function suggestName(name: string, known: readonly string[]): { suggestion?: string } {
  const suggestion = findNearest(name, known)
  return suggestion === undefined ? {} : { suggestion }
}

export function nameByPlace({ path, resource }: { readonly path: string; readonly resource: Resource }): string {
  return path === '' ? `the ${resource.singular}` : `"${path}"`
}
