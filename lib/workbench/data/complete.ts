/** Suggests attributes, operators, values and parameters at the caret of a query, from the outline. */
import type { OutlinedResource, OutlinedAttribute } from '../../description/outline/outline-parts.ts'
import type { ParameterNames } from './list-query.ts'

interface Suggestion {
  readonly text: string
  readonly hint: string
}

interface Completion {
  readonly from: number
  readonly suggestions: readonly Suggestion[]
}

interface CompletionNames {
  readonly root: string
  readonly resources: readonly OutlinedResource[]
  /** Undefined in groups, where no parameters are. */
  readonly names: ParameterNames | undefined
}

const NONE: Completion = { from: 0, suggestions: [] }
const SHOWN = 12

const OPERATORS: readonly (readonly [operator: string, hint: string, kinds: RegExp | undefined])[] = [
  ['=', 'is', undefined],
  ['~=', 'is like, whatever the case: *ann*', /text|uuid|any/],
  ['~~=', 'is like, whatever case and accents', /text|uuid|any/],
  ['!=', 'is not', undefined],
  ['>=', 'is at least', /integer|bigint|float|decimal|date|time|text/],
  ['<=', 'is at most', /integer|bigint|float|decimal|date|time|text/],
  ['>', 'is more than', /integer|bigint|float|decimal|date|time/],
  ['<', 'is less than', /integer|bigint|float|decimal|date|time/],
]

export function complete(text: string, caret: number, known: CompletionNames): Completion {
  const before = text.slice(0, caret)
  const mark = before.indexOf('?')
  const { root, resources } = known
  if (mark < 0) {
    const suggestions = resources.map(({ name }) => ({ text: `${root}/${name}`, hint: 'resource' }))
    return { from: 0, suggestions: matching(suggestions, before) }
  }
  const resource = resources.find(({ name }) => before.slice(0, mark) === `${root}/${name}`)
  if (resource === undefined) return NONE
  const from = Math.max(mark, before.lastIndexOf('&')) + 1
  const list = findList(before.slice(from), resource, known) ?? { resource, from: 0 }
  const start = from + list.from
  const group = enterGroup(before.slice(start), list.resource, known)
  const inside = group.skipped === 0 ? known : { ...known, names: undefined }
  return group.resource === undefined ? NONE : completeCondition(before, start + group.skipped, group.resource, inside)
}

interface ListAtCaret {
  readonly resource: OutlinedResource
  readonly from: number
}

/** The list at the caret: `expand=posts(limit=3;`. */
function findList(part: string, root: OutlinedResource, known: CompletionNames): ListAtCaret | undefined {
  const { names } = known
  if (names === undefined || !part.startsWith(`${names.expand}=`)) return undefined
  const open: ListAtCaret[] = []
  let from = names.expand.length + 1
  for (let at = from; at < part.length; at++) {
    const character = part[at]
    const { resource } = open.at(-1) ?? { resource: root }
    if (character === '(') {
      const target = findAttribute(part.slice(from, at), resource, known)?.target
      open.push({ resource: known.resources.find(({ name }) => name === target) ?? resource, from: at + 1 })
    } else if (character === ')') open.pop()
    else if (character === ';' && open.length > 0) open.push({ ...open.pop()!, from: at + 1 })
    if (/[(),;=]/.test(character!)) from = at + 1
  }
  return open.at(-1)
}

/** Where the condition at the caret begins, and whose attributes are named there. */
function enterGroup(part: string, resource: OutlinedResource, known: CompletionNames) {
  const owners: (OutlinedResource | undefined)[] = [resource]
  let skipped = 0
  for (const { 0: mark, index } of part.matchAll(/\\.|[|;()]/gs)) {
    // Outside of groups `|` separates names.
    if (mark.length > 1 || (owners.length === 1 && mark !== '(')) continue
    const name = part.slice(skipped, index).replace(/^!+/, '')
    if (mark === '(' && /[=<>]/.test(name)) break
    if (mark === '(') owners.push(name === '' ? owners.at(-1) : resourceBehind(name, owners.at(-1), known))
    if (mark === ')') owners.pop()
    skipped = index + 1
  }
  return { skipped, resource: owners.at(-1) }
}

function completeCondition(before: string, from: number, resource: OutlinedResource, known: CompletionNames): Completion {
  const part = before.slice(from)
  const operator = /(?:~~=|~=|!=|>=|<=|=|>|<)/.exec(part)
  return operator === null
    ? completeName(part, from, resource, known)
    : completeValue(part.slice(0, operator.index), operator.index + operator[0].length + from, before, resource, known)
}

function completeName(part: string, from: number, resource: OutlinedResource, known: CompletionNames): Completion {
  // A name may begin with `!`, and `|` separates several names.
  const skipped = /^!?(?:[^|]*\|)*/.exec(part)?.[0].length ?? 0
  const path = part.slice(skipped)
  const start = from + skipped
  const exact = findAttribute(path, resource, known)
  const operators = exact === undefined || !exact.filterable ? [] : operatorsOf(exact, path)
  const parameters = skipped > 0 || path.includes('.') || known.names === undefined ? [] : listParameters(known.names)
  const suggestions = [...operators, ...matching([...listAttributes(path, resource, known), ...parameters], path)]
  return { from: start, suggestions: suggestions.filter(({ text }) => text !== path).slice(0, SHOWN) }
}

function completeValue(name: string, from: number, before: string, resource: OutlinedResource, known: CompletionNames): Completion {
  const { names } = known
  const start = Math.max(from, before.lastIndexOf(',') + 1)
  const typed = before.slice(start)
  if (name === names?.sort) return { from: start, suggestions: matching(listSortKeys(typed, resource, known), typed) }
  if (name === names?.offset) return { from: start, suggestions: matching([{ text: 'first', hint: 'pages by keys' }], typed) }
  if (name === names?.expand || name === names?.attributes) {
    const listed = listAttributes(typed, resource, known).filter(({ hint }) => name === names?.attributes || hint.startsWith('→'))
    return { from: start, suggestions: matching(listed, typed) }
  }
  const attribute = findAttribute(name.replace(/^!/, '').split('|').at(-1) ?? '', resource, known)
  if (attribute === undefined) return NONE
  const values = attribute.items?.map(String) ?? (attribute.type === 'boolean' ? ['true', 'false'] : [])
  const nulls = attribute.nullable || attribute.kind === 'toMany' ? ['null'] : []
  return {
    from: start,
    suggestions: matching(
      [...values, ...nulls].map(text => ({ text, hint: text === 'null' ? 'no value' : attribute.type })),
      typed,
    ),
  }
}

function listSortKeys(typed: string, resource: OutlinedResource, known: CompletionNames): Suggestion[] {
  const [path = typed, direction] = /^(.*)\.(asc|desc)\b/.exec(typed)?.slice(1) ?? []
  const keys = listAttributes(path.replace(/\.$/, ''), resource, known)
  if (direction === undefined) return keys.flatMap(each => [each, { ...each, text: `${each.text}.desc` }])
  return ['', '.nullsfirst', '.nullslast'].flatMap(nulls => keys.map(each => ({ ...each, text: `${each.text}.${direction}${nulls}` })))
}

function matching(all: readonly Suggestion[], typed: string): Suggestion[] {
  const lower = typed.toLowerCase()
  const begins = all.filter(({ text }) => text.toLowerCase().startsWith(lower))
  const holds = all.filter(each => !begins.includes(each) && each.text.toLowerCase().includes(lower))
  return [...begins, ...holds].filter(({ text }) => text !== typed).slice(0, SHOWN)
}

function operatorsOf({ type, kind }: OutlinedAttribute, path: string): Suggestion[] {
  const isValue = kind === 'scalar'
  const operators = OPERATORS.filter(([, , kinds]) => kinds === undefined || (isValue && kinds.test(type)))
  const related = isValue || kind === 'embedded' ? [] : [['(', 'one record meets all: (a=1;b=2)'] as const]
  return [...operators, ...related].map(([operator, hint]) => ({ text: path + operator, hint }))
}

function listParameters(names: ParameterNames): Suggestion[] {
  const parameters = Object.entries(names).map(([name, given]) => ({ text: `${given}=`, hint: HINTS[name] ?? 'parameter' }))
  const groups = [
    { text: '(', hint: 'any of several conditions: (a=1|b=2)' },
    { text: '*~=', hint: 'any text: *ann*' },
  ]
  return [...parameters, ...groups]
}

const HINTS: Readonly<Record<string, string>> = {
  limit: 'records on a page',
  offset: 'records to skip, or first: pages by keys',
  sort: 'order',
  depth: 'relations: 0, 1 or 2',
  attributes: 'what is shown',
  expand: 'relations as objects: posts(limit=3)',
}

function listAttributes(path: string, resource: OutlinedResource, known: CompletionNames): Suggestion[] {
  const dot = path.lastIndexOf('.')
  const prefix = path.slice(0, dot + 1)
  const attributes = dot < 0 ? resource.attributes : attributesBehind(path.slice(0, dot), resource, known)
  return attributes
    .filter(({ filterable, flag }) => filterable && flag === undefined)
    .map(({ name, kind, type }) => ({ text: prefix + name, hint: kind === 'scalar' || kind === 'embedded' ? type : `→ ${type}` }))
}

function attributesBehind(path: string, resource: OutlinedResource, known: CompletionNames): readonly OutlinedAttribute[] {
  const attribute = findAttribute(path, resource, known)
  return attribute?.attributes ?? known.resources.find(({ name }) => name === attribute?.target)?.attributes ?? []
}

function resourceBehind(path: string, owner: OutlinedResource | undefined, known: CompletionNames): OutlinedResource | undefined {
  const attribute = owner === undefined ? undefined : findAttribute(path, owner, known)
  return attribute === undefined ? undefined : known.resources.find(({ name }) => name === attribute.target)
}

function findAttribute(path: string, resource: OutlinedResource, known: CompletionNames): OutlinedAttribute | undefined {
  let attributes = resource.attributes
  let found: OutlinedAttribute | undefined
  for (const name of path.split('.')) {
    found = attributes.find(attribute => attribute.name === name || attribute.ids === name)
    if (found === undefined) return undefined
    attributes = found.attributes ?? known.resources.find(({ name: other }) => other === found?.target)?.attributes ?? []
  }
  return found
}
