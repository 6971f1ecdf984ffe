/** The field in which a reader edits one value: a text field, a select, or the search for a linked record. Null is a separate choice. */
import { useRef } from 'preact/hooks'
import { findResource, type OutlinedAttribute } from '../state/outline.ts'
import { PICKERS, readPicked, writePicked } from './date-text.ts'
import { choicesOf, isJson, isLarge, type FieldDraft } from './input-text.ts'
import { LinkField } from './link-field.tsx'

interface FieldProps {
  readonly attribute: OutlinedAttribute
  readonly label: string
  readonly draft: FieldDraft
  readonly before: unknown
  readonly linkText: string
  readonly faultId: string | undefined
  readonly mayGrow: boolean
  readonly onChange: (draft: FieldDraft) => void
}

/** For null and for no value; data never begin with `\u0000`. */
const NULL = '\u0000null'
const NOTHING = '\u0000'

export function Field(props: FieldProps) {
  const { attribute, draft, label, linkText, faultId, before, mayGrow, onChange } = props
  const { nullable, kind, target } = attribute
  const fault = { describedBy: faultId, isInvalid: faultId !== undefined }
  const linked = kind === 'toOne' && target !== undefined ? findResource(target) : undefined
  if (linked !== undefined)
    return <LinkField {...{ label, nullable, onChange }} {...fault} target={linked} shown={linkText} placeholder={describeEmpty(props)} />
  if (choicesOf(attribute) !== undefined) return <Choice {...props} />
  const marks = { 'aria-label': label, 'aria-invalid': fault.isInvalid, 'aria-describedby': faultId }
  const text = { value: draft ?? '', placeholder: describeEmpty(props), spellcheck: false }
  const isTall = mayGrow && (isJson(attribute) || isLarge(attribute, draft ?? before))
  return (
    <span class="value-field">
      {isTall ? (
        <textarea {...marks} {...text} class="code" rows={countRows(draft)} onInput={event => onChange(event.currentTarget.value)} />
      ) : (
        <input
          {...marks}
          {...text}
          onInput={event => onChange(event.currentTarget.value)}
          onKeyDown={event => takeNull(event, nullable, onChange)}
        />
      )}
      {kind === 'scalar' && attribute.type in PICKERS ? <Picker {...{ attribute, label, draft, onChange }} isReached={mayGrow} /> : null}
      {nullable ? <NullButton label={label} isNull={draft === null} isReached={mayGrow} onChange={onChange} /> : null}
    </span>
  )
}

function Choice({ attribute, label, draft, before, faultId, onChange }: FieldProps) {
  const choices = choicesOf(attribute) ?? []
  const value = draft === null ? NULL : (draft ?? NOTHING)
  const isOther = typeof draft === 'string' && !choices.includes(draft)
  return (
    <select
      aria-label={label}
      aria-invalid={faultId !== undefined}
      aria-describedby={faultId}
      value={value}
      onChange={event => {
        const { value: chosen } = event.currentTarget
        onChange(chosen === NULL ? null : chosen === NOTHING ? undefined : chosen)
      }}
    >
      {before === undefined || draft === undefined ? (
        <option value={NOTHING}>{attribute.required || before !== undefined ? 'choose …' : 'as the model has it'}</option>
      ) : null}
      {isOther ? <option value={draft}>{draft}</option> : null}
      {choices.map(choice => (
        <option key={choice} value={choice}>
          {choice}
        </option>
      ))}
      {attribute.nullable || draft === null ? <option value={NULL}>null</option> : null}
    </select>
  )
}

interface PickerProps extends Pick<FieldProps, 'attribute' | 'label' | 'draft' | 'onChange'> {
  /** In a cell, Tab moves to the next cell. */
  readonly isReached: boolean
}

/** The text beside the button stays the exact value. */
function Picker({ attribute: { type }, label, draft, isReached, onChange }: PickerProps) {
  const field = useRef<HTMLInputElement>(null)
  const what = type === 'time' ? 'a time' : type === 'date' ? 'a date' : 'a time, in UTC'
  return (
    <span class="picker">
      <input
        ref={field}
        type={PICKERS[type]!}
        step={type === 'date' ? undefined : '0.001'}
        tabIndex={-1}
        aria-hidden="true"
        value={writePicked(draft ?? '', type)}
        onInput={event => {
          const { value } = event.currentTarget
          if (value !== '') onChange(readPicked(value, type))
        }}
      />
      <button
        type="button"
        tabIndex={isReached ? undefined : -1}
        aria-label={`${label}: pick ${what}`}
        title={`Pick ${what}`}
        onMouseDown={event => event.preventDefault()}
        onClick={() => field.current?.showPicker()}
      >
        ▾
      </button>
    </span>
  )
}

interface NullButtonProps {
  readonly label: string
  readonly isNull: boolean
  /** In a cell, Alt 0 sets null. */
  readonly isReached: boolean
  readonly onChange: (draft: FieldDraft) => void
}

function NullButton({ label, isNull, isReached, onChange }: NullButtonProps) {
  const button = useRef<HTMLButtonElement>(null)
  return (
    <button
      ref={button}
      type="button"
      class="null-choice"
      tabIndex={isReached ? undefined : -1}
      aria-label={`${label}: null`}
      aria-pressed={isNull}
      aria-keyshortcuts="Alt+0"
      title="No value (Alt 0)"
      onMouseDown={event => event.preventDefault()}
      onClick={() => onChange(null)}
    >
      null
    </button>
  )
}

function takeNull(event: KeyboardEvent, nullable: boolean, onChange: (draft: FieldDraft) => void): void {
  if (!nullable || !event.altKey || event.code !== 'Digit0') return
  event.preventDefault()
  onChange(null)
}

const EXAMPLES: Readonly<Record<string, string>> = {
  datetime: '2026-01-31T12:00:00Z',
  date: '2026-01-31',
  time: '12:00:00',
  uuid: '00000000-0000-4000-8000-000000000000',
  blob: 'base64',
}

/** Writes the placeholder. */
function describeEmpty({ attribute: { required, type, nullable }, label, draft, before }: FieldProps): string {
  if (draft === null) return 'null'
  if (draft === '') return type === 'text' ? 'empty text' : (EXAMPLES[type] ?? '')
  if (before !== undefined) return EXAMPLES[type] ?? ''
  if (label === 'more attributes') return '{ "title": "Hello", "done": false }'
  return required
    ? ['required', EXAMPLES[type] ?? ''].filter(Boolean).join(': ')
    : nullable
      ? 'null, or as the model has it'
      : 'as the model has it'
}

function countRows(draft: FieldDraft): number {
  const lines = (draft ?? '').split('\n')
  const wrapped = lines.reduce((sum, line) => sum + 1 + Math.floor(line.length / 40), 0)
  return Math.min(16, Math.max(3, wrapped))
}
