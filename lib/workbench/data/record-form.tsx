/** Creates or edits a record. Sends all changes in one request; errors appear below the fields. */
import type { RefObject } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { ErrorNotice } from '../parts/notice.tsx'
import { Refusal } from '../state/ask.ts'
import { findResource, type OutlinedAttribute, type OutlinedResource } from '../state/outline.ts'
import { isEditable, valueOf, type AnyRecord } from '../state/records.ts'
import { describeLink } from './links.ts'
import { describeType } from './describe-type.ts'
import { readFaults } from './field-faults.ts'
import { Field } from './field.tsx'
import { readDraft, writeDraft, type FieldDraft } from './input-text.ts'
import { changeRecord, createRecord } from './save.ts'

interface RecordFormProps {
  readonly resource: OutlinedResource
  readonly existing:
    | { /** Undefined: the record of a single resource, such as `/profile`. */ readonly id: string | undefined; readonly record: AnyRecord }
    | undefined
  readonly prefilled?: Readonly<Record<string, string>>
  /** Attribute with the initial focus; empty: none. */
  readonly focus: string | undefined
  /** Receives the ID, if known. */
  readonly onSaved: (id: string | undefined) => void
  readonly onCancel: () => void
}

type FormDrafts = Readonly<Record<string, FieldDraft>>

export function RecordForm({ resource, existing: given, prefilled = {}, focus, onSaved, onCancel }: RecordFormProps) {
  // The version from the start of editing reveals changes by others.
  const [existing] = useState(given)
  const attributes = listFields(resource, existing?.record)
  const [drafts, setDrafts] = useState<FormDrafts>(prefilled)
  const form = useRef<HTMLFormElement>(null)
  const field = focus ?? attributes[0]?.name
  useEffect(() => findField(form.current, field)?.focus(), [])
  const { error, isSaving, run } = useSaving(form, async () => {
    const body = readBody(attributes, drafts, existing?.record)
    if (existing === undefined) return createRecord(resource, body)
    if (Object.keys(body).length > 0) await changeRecord(resource, existing.id, existing.record, body)
    return existing.id
  })
  const save = async (): Promise<void> => run(onSaved)
  return (
    <form
      ref={form}
      class="record-form"
      noValidate
      onSubmit={event => {
        event.preventDefault()
        void save()
      }}
      onKeyDown={event => {
        if (event.key === 'Escape' && !event.defaultPrevented) onCancel()
        if (event.key === 'Enter' && event.ctrlKey) void save()
      }}
    >
      <Fields {...{ resource, attributes, drafts, error, existing, setDrafts }} />
      <div class="bar">
        <button type="submit" class="main" disabled={isSaving}>
          {existing === undefined ? 'Create' : 'Save'}
        </button>
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </form>
  )
}

function findField(form: HTMLFormElement | null, name: string | undefined): HTMLElement | null {
  return form?.querySelector<HTMLElement>(`[data-field="${CSS.escape(name ?? '')}"] :is(input, select, textarea)`) ?? null
}

/** One save at a time; focuses the first refused field. */
function useSaving(form: RefObject<HTMLFormElement | null>, write: () => Promise<string | undefined>) {
  const [error, setError] = useState<Error>()
  const [isSaving, setSaving] = useState(false)
  const run = async (onSaved: (id: string | undefined) => void): Promise<void> => {
    if (isSaving) return
    setSaving(true)
    try {
      onSaved(await write())
      setSaving(false)
    } catch (thrown) {
      setError(thrown as Error)
      setSaving(false)
      requestAnimationFrame(() => form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus())
    }
  }
  return { error, isSaving, run }
}

interface FieldsProps {
  readonly resource: OutlinedResource
  readonly attributes: readonly OutlinedAttribute[]
  readonly drafts: FormDrafts
  readonly error: Error | undefined
  readonly existing: RecordFormProps['existing']
  readonly setDrafts: (change: (before: FormDrafts) => FormDrafts) => void
}

function Fields({ resource, attributes, drafts, error, existing, setDrafts }: FieldsProps) {
  const faults = error === undefined ? undefined : readAllFaults(error, resource)
  const shown = new Set(attributes.map(({ name }) => name))
  const isElsewhere =
    faults !== undefined &&
    (faults.byName.size === 0 || faults.others.length > 0 || [...faults.byName.keys()].some(name => !shown.has(name)))
  return (
    <>
      {isElsewhere ? <ErrorNotice error={error!} /> : null}
      {attributes.map(attribute => (
        <Row
          key={attribute.name}
          attribute={attribute}
          before={existing === undefined || attribute === MORE ? undefined : valueOf(existing.record, attribute)}
          draft={drafts[attribute.name]}
          isTouched={attribute.name in drafts}
          fieldError={faults?.byName.get(attribute.name)}
          onChange={draft => setDrafts(all => ({ ...all, [attribute.name]: draft }))}
        />
      ))}
    </>
  )
}

interface FormRowProps {
  readonly attribute: OutlinedAttribute
  readonly before: unknown
  readonly draft: FieldDraft
  readonly isTouched: boolean
  readonly fieldError: string | undefined
  readonly onChange: (draft: FieldDraft) => void
}

function Row({ attribute, before, draft, isTouched, fieldError, onChange }: FormRowProps) {
  const id = useId()
  const link = describeLink(before, attribute)
  const shown = isTouched || before === undefined ? draft : writeDraft(attribute, before, link.id)
  return (
    <div class="field-row" data-field={attribute.name}>
      <span>
        {attribute.name} {attribute.required && before === undefined ? <abbr title="required">*</abbr> : null}
        <small class="dim">{attribute === MORE ? 'as JSON: names and values' : describeType(attribute, false)}</small>
      </span>
      <div>
        <Field
          attribute={attribute}
          label={attribute.name}
          draft={shown}
          before={before}
          linkText={before === undefined ? (draft ?? '') : link.text}
          faultId={fieldError === undefined ? undefined : id}
          mayGrow
          onChange={onChange}
        />
        {fieldError === undefined ? null : (
          <p id={id} class="fault">
            {fieldError}
          </p>
        )}
      </div>
    </div>
  )
}

const MORE: OutlinedAttribute = {
  name: 'more attributes',
  kind: 'scalar',
  type: 'json',
  nullable: false,
  required: false,
  readOnly: false,
  unique: false,
  filterable: false,
  sortable: false,
}

function listFields(resource: OutlinedResource, record: AnyRecord | undefined): readonly OutlinedAttribute[] {
  const { attributes, writeOnly = [], version, open } = resource
  const more = open === true ? [MORE] : []
  if (record !== undefined) {
    const hidden = writeOnly.filter(({ name }) => !resource.key.includes(name))
    return [...attributes.filter(attribute => isEditable(resource, attribute, record)), ...hidden, ...more]
  }
  const writable = [...attributes, ...writeOnly].filter(
    ({ kind, readOnly, name, flag }) => kind !== 'toMany' && !readOnly && name !== version && flag === undefined,
  )
  return [...writable.filter(({ required }) => required), ...writable.filter(({ required }) => !required), ...more]
}

class UnreadableField extends Error {
  readonly attribute: string

  constructor(attribute: string, cause: unknown) {
    super(`This is not JSON: ${(cause as Error).message}`, { cause })
    this.attribute = attribute
  }
}

function readBody(attributes: readonly OutlinedAttribute[], drafts: FormDrafts, record: AnyRecord | undefined): Record<string, unknown> {
  const body: Record<string, unknown> = {}
  for (const attribute of attributes) {
    const { name, ids = name, target } = attribute
    const draft = drafts[name]
    if (draft === undefined || (attribute === MORE && (draft ?? '').trim() === '')) continue
    const before = record === undefined ? undefined : valueOf(record, attribute)
    if (record !== undefined && attribute !== MORE && draft === writeDraft(attribute, before, describeLink(before, attribute).id)) continue
    try {
      if (attribute === MORE) Object.assign(body, readObject(draft))
      else body[ids] = readDraft(draft, attribute, target === undefined ? undefined : findResource(target))
    } catch (error) {
      throw new UnreadableField(name, error)
    }
  }
  return body
}

function readObject(draft: FieldDraft): object {
  const value: unknown = JSON.parse(draft ?? '')
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new SyntaxError('write an object of names and values.')
  return value
}

function readAllFaults(error: Error, resource: OutlinedResource): ReturnType<typeof readFaults> {
  if (error instanceof UnreadableField) return { byName: new Map([[error.attribute, error.message]]), others: [] }
  const known = { ...resource, attributes: [...resource.attributes, ...(resource.writeOnly ?? [])] }
  return error instanceof Refusal ? readFaults(error.answer.body, known) : { byName: new Map(), others: [] }
}
