/** Validation context: the place in the body, the errors so far, and the rules of the whole body. */
import { withCapitalArticle } from '../../foundation/base/article.ts'
import type { FieldErrors } from '../../foundation/json/body-errors.ts'
import type { FieldError } from '../../foundation/errors/errors.ts'
import { findNearest, formatHint } from '../../foundation/base/suggest.ts'
import type { Dialect } from '../database/dialect.ts'
import type { Attribute, Resource } from '../../model/model.ts'
import type { References } from './references.ts'
import { EVERYTHING, describeClosed, openNames, type Visibility } from '../plan/visibility.ts'

export interface ValidationRules {
  /** Tells which values the database can store. */
  readonly dialect: Pick<Dialect, 'describeUnstorable'>
  /** The body is a record of a seed, and may set attributes read-only for clients. */
  readonly seeding?: boolean
  /** Resources, rows and attributes that exist for the caller; a relation to any other is unknown. Default: everything. */
  readonly visibility?: Visibility
  /** Records linked by the key known to clients. */
  readonly references: References
}

export class ValidationContext {
  readonly errors: FieldErrors
  readonly dialect: Pick<Dialect, 'describeUnstorable'>
  readonly seeding: boolean
  readonly visibility: Visibility
  readonly references: References
  /** Dotted path; empty for the body itself. */
  readonly path: string

  constructor(errors: FieldErrors, { dialect, seeding = false, visibility = EVERYTHING, references }: ValidationRules, path = '') {
    this.errors = errors
    this.dialect = dialect
    this.seeding = seeding
    this.visibility = visibility
    this.references = references
    this.path = path
  }

  /** Returns the context of an attribute, or of a list member. */
  at(name: string | number): ValidationContext {
    return new ValidationContext(this.errors, this, joinPath(this.path, name))
  }

  /**
   * Adds an error; returns undefined, as validators do for invalid values.
   *
   * @param text the end of the sentence, after the path
   */
  error(code: FieldError['code'], text: string, more: Partial<FieldError> = {}): undefined {
    this.errors.push({ code, detail: `"${this.path}" ${text}`, attribute: this.path, ...more })
    return undefined
  }

  /** Adds the error of an unknown name. */
  unknownAttribute(name: string, owner: string, attributes: () => readonly Attribute[], found?: Attribute): undefined {
    this.errors.describe(() => {
      const names = openNames(attributes().filter(attribute => !attribute.readOnly))
      const suggestion = findNearest(name, names)
      return {
        code: 'attribute_unknown',
        detail: describeClosed(found) ?? `${withCapitalArticle(owner)} has no attribute "${name.slice(0, 100)}".${formatHint(suggestion)}`,
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

/** Returns the nearest known name, as a member of an error. */
export function suggestName(name: string, known: readonly string[]): { suggestion?: string } {
  const suggestion = findNearest(name, known)
  return suggestion === undefined ? {} : { suggestion }
}

/** Names a record by path; a record without a path, by resource. */
export function nameByPlace({ path, resource }: { readonly path: string; readonly resource: Resource }): string {
  return path === '' ? `the ${resource.singular}` : `"${path}"`
}
