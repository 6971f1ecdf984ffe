/** Sets a value of chosen records, or deletes the records. */
import { useState } from 'preact/hooks'
import { findResource, type OutlinedAttribute, type OutlinedResource } from '../state/outline.ts'
import { importable } from './csv.ts'
import { DeleteDialog } from './delete-dialog.tsx'
import { describeType } from './describe-type.ts'
import { Field } from './field.tsx'
import { readDraft, type FieldDraft } from './input-text.ts'
import { changeRecords, type SeveralFaults } from './save.ts'
import { nameRecords, SeveralDialog, useSeveral } from './several.tsx'

interface ChosenBarProps {
  readonly resource: OutlinedResource
  readonly ids: readonly string[]
  readonly onNone: () => void
}

/** Stands in the place of the list's tools, so that the list does not move. */
export function ChosenBar({ resource, ids, onNone }: ChosenBarProps) {
  const [open, setOpen] = useState<'set' | 'delete'>()
  const close = (): void => setOpen(undefined)
  const end = (): void => {
    close()
    onNone()
  }
  return (
    <div class="chosen" role="group" aria-label="Chosen records">
      <strong>{nameRecords(resource, ids)} chosen</strong>
      {resource.updates ? (
        <button type="button" onClick={() => setOpen('set')}>
          Set a value …
        </button>
      ) : null}
      {resource.deletes ? (
        <button type="button" class="risky" onClick={() => setOpen('delete')}>
          Delete …
        </button>
      ) : null}
      <button type="button" class="quiet" onClick={onNone}>
        Choose none
      </button>
      {open === 'set' ? <SetDialog {...{ resource, ids }} onDone={end} onClose={close} /> : null}
      {open === 'delete' ? <DeleteDialog {...{ resource, ids }} onDone={end} onClose={close} /> : null}
    </div>
  )
}

interface SetDialogProps {
  readonly resource: OutlinedResource
  readonly ids: readonly string[]
  readonly onDone: () => void
  readonly onClose: () => void
}

function SetDialog({ resource, ids, onDone, onClose }: SetDialogProps) {
  const attributes = importable(resource).filter(({ name, unique }) => !unique && !resource.key.includes(name))
  const [name, setName] = useState(attributes[0]?.name ?? '')
  const [draft, setDraft] = useState<FieldDraft>()
  const { faults, isBusy, run } = useSeveral(onDone)
  const attribute = attributes.find(each => each.name === name)
  const set = async (): Promise<SeveralFaults> => {
    const value = readDraft(draft === undefined ? '' : draft, attribute!, findResource(attribute?.target ?? ''))
    return changeRecords(resource, ids, { [attribute?.ids ?? name]: value })
  }
  return (
    <SeveralDialog title={`Set a value of ${nameRecords(resource, ids)}`} faults={faults} onClose={onClose}>
      <form
        class="record-form"
        onSubmit={event => {
          event.preventDefault()
          void run(set)
        }}
      >
        <div class="field-row">
          <span>attribute</span>
          <AttributeChoice
            names={attributes.map(each => each.name)}
            value={name}
            onChange={next => {
              setName(next)
              setDraft(undefined)
            }}
          />
        </div>
        {attribute === undefined ? null : <ValueRow key={name} {...{ attribute, draft }} onChange={setDraft} />}
        <div class="bar">
          <button type="submit" class="main" disabled={isBusy || draft === undefined}>
            Set
          </button>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </SeveralDialog>
  )
}

interface AttributeChoiceProps {
  readonly names: readonly string[]
  readonly value: string
  readonly onChange: (name: string) => void
}

function AttributeChoice({ names, value, onChange }: AttributeChoiceProps) {
  return (
    <select aria-label="Attribute" value={value} onChange={event => onChange(event.currentTarget.value)}>
      {names.map(name => (
        <option key={name}>{name}</option>
      ))}
    </select>
  )
}

interface ValueRowProps {
  readonly attribute: OutlinedAttribute
  readonly draft: FieldDraft
  readonly onChange: (draft: FieldDraft) => void
}

function ValueRow({ attribute, draft, onChange }: ValueRowProps) {
  return (
    <div class="field-row">
      <span>
        value <small class="dim">{describeType(attribute, false)}</small>
      </span>
      <Field
        {...{ attribute, draft, onChange }}
        label={`Value of ${attribute.name}`}
        before={null}
        linkText=""
        faultId={undefined}
        mayGrow
      />
    </div>
  )
}
