/** The field of a link. Searches for a record by name or ID. */
import type { RefObject } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { Combobox, type Choice } from '../parts/combobox.tsx'
import { useLoad } from '../parts/use-load.ts'
import type { OutlinedResource } from '../state/outline.ts'
import { nameRecord } from './links.ts'
import { searchRecords, type FoundRecord } from './search-records.ts'
import type { FieldDraft } from './input-text.ts'

interface LinkFieldProps {
  readonly label: string
  readonly target: OutlinedResource
  readonly shown: string
  readonly nullable: boolean
  readonly placeholder: string
  readonly describedBy: string | undefined
  readonly isInvalid: boolean
  readonly field?: RefObject<HTMLInputElement | null>
  readonly onChange: (id: FieldDraft) => void
}

interface RecordOption extends Choice {
  readonly id: string | null
}

const NONE: readonly FoundRecord[] = []

export function LinkField({ target, shown, nullable, onChange, ...others }: LinkFieldProps) {
  const [text, setText] = useState(shown)
  const [taken, setTaken] = useState(shown)
  // Chosen or initial text is no search.
  const typed = text === taken ? '' : text
  const { data } = useLoad(async signal => ({ typed, records: await searchRecords(target, typed, signal) }), [target, typed])
  // Not for an earlier text: Enter would take a wrong record.
  const found = data?.typed === typed ? data.records : NONE
  const options = useMemo((): readonly RecordOption[] => {
    const records = found.map(({ id, label }) => ({ text: nameRecord(id, label), hint: '', id }))
    const none: RecordOption = { text: 'null', hint: `no ${target.singular}`, id: null }
    return !nullable ? records : typed === '' ? [none, ...records] : [...records, none]
  }, [found, nullable, typed, target])
  return (
    <Combobox
      {...others}
      isEager
      value={text}
      options={options}
      onInput={value => {
        setText(value)
        // The text may be an ID.
        onChange(value.trim() === '' && nullable ? null : value.trim())
      }}
      onTake={option => {
        const { id, text: named } = option as RecordOption
        setText(id === null ? '' : named)
        setTaken(id === null ? '' : named)
        onChange(id)
      }}
      onSubmit={() => document.activeElement?.closest('form')?.requestSubmit()}
    />
  )
}
