/**
 * Nests the fields of an HTML form by names such as `address[city]`, `tags[]`, `sites[0][name]`. All values are texts. Refuses unreadable
 * and contradictory names with body_invalid.
 */
import { restError } from '../errors/errors.ts'

export interface FormField {
  readonly texts: string[]
  isList: boolean
  readonly members: Map<string, FormField>
}

const MAX_DEPTH = 20

function createField(): FormField {
  return { texts: [], isList: false, members: new Map() }
}

export class FormBody {
  readonly fields: Map<string, FormField>

  constructor(fields: ReadonlyMap<string, FormField> = new Map()) {
    this.fields = new Map(fields)
  }

  /** @throws RestError body_invalid */
  add(name: string, text: string): void {
    const [first, ...rest] = splitName(name)
    let at = memberOf(this.fields, first!)
    for (const [index, key] of rest.entries()) {
      if (key === '' && index === rest.length - 1) {
        at.isList = true
        continue
      }
      if (at.texts.length > 0) throw contradicts(name)
      at = key === '' ? nextItem(at, rest[index + 1]!) : memberOf(at.members, key)
    }
    if (at.members.size > 0) throw contradicts(name)
    at.texts.push(text)
  }

  /** As JSON of texts, without a model. */
  plain(): Readonly<Record<string, unknown>> {
    return Object.fromEntries([...this.fields].map(([name, field]) => [name, plainField(field)]))
  }
}

export function plainField(field: FormField): unknown {
  const { texts, isList, members } = field
  const items = itemsOf(field)
  if (items !== undefined) return items.map(plainField)
  if (members.size > 0) return Object.fromEntries([...members].map(([name, member]) => [name, plainField(member)]))
  return isList || texts.length !== 1 ? [...texts] : texts[0]
}

/** Undefined if the brackets hold names, not numbers. */
export function itemsOf({ members }: FormField): FormField[] | undefined {
  const keys = [...members.keys()]
  if (keys.length === 0 || !keys.every(key => /^\d{1,9}$/.test(key))) return undefined
  return keys.toSorted((a, b) => Number(a) - Number(b)).map(key => members.get(key)!)
}

function memberOf(members: Map<string, FormField>, name: string): FormField {
  const field = members.get(name) ?? createField()
  members.set(name, field)
  return field
}

/** In a list without numbers, a repeated name begins the next object. */
function nextItem({ members }: FormField, name: string): FormField {
  const last = members.get(String(members.size - 1))
  return last === undefined || last.members.has(name) ? memberOf(members, String(members.size)) : last
}

function splitName(name: string): string[] {
  if (name === '') throw restError('body_invalid', 'A field of the form has no name.')
  const start = name.indexOf('[')
  if (start < 0) return [name]
  const brackets = name.slice(start)
  if (start === 0 || !/^(?:\[[^[\]]*\])+$/.test(brackets))
    throw restError('body_invalid', `The field ${JSON.stringify(name.slice(0, 100))} of the form has brackets that cannot be read.`)
  const keys = brackets.slice(1, -1).split('][')
  if (keys.length > MAX_DEPTH) throw restError('body_invalid', `A field of the form is nested deeper than ${MAX_DEPTH} brackets.`)
  return [name.slice(0, start), ...keys]
}

function contradicts(name: string) {
  return restError(
    'body_invalid',
    `The field ${JSON.stringify(name.slice(0, 100))} of the form is a value at one place and an object at another.`,
  )
}
