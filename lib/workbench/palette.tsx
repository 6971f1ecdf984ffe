/** The search of Ctrl K, to any screen, resource or record. */
import { signal } from '@preact/signals'
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { Combobox, type Choice } from './parts/combobox.tsx'
import { SCREENS } from './screens.tsx'
import { outline } from './state/outline.ts'
import { go, hrefOf } from './state/place.ts'

export const isPaletteOpen = signal(false)

interface Destination extends Choice {
  readonly href: string
}

const SHOWN = 10

export function Palette() {
  const dialog = useRef<HTMLDialogElement>(null)
  const isOpen = isPaletteOpen.value
  // Before the reader presses another key.
  useLayoutEffect(() => {
    if (isOpen) dialog.current?.showModal()
    else dialog.current?.close()
  }, [isOpen])
  // The `close` event comes late, and the palette may be open again.
  const close = (): void => {
    if (dialog.current?.open !== true) isPaletteOpen.value = false
  }
  return (
    <dialog ref={dialog} class="palette" aria-label="Go to" onClose={close}>
      {isOpen ? <Search /> : null}
    </dialog>
  )
}

function Search() {
  const [text, setText] = useState('')
  const options = useMemo(() => findDestinations(text), [text])
  const take = (option: Choice): void => {
    isPaletteOpen.value = false
    go((option as Destination).href)
  }
  return (
    <>
      <Combobox
        label="Go to"
        value={text}
        options={options}
        placeholder="sites, sites 2, requests …"
        isOpen
        onInput={setText}
        onTake={take}
        onSubmit={() => {}}
      />
      {options.length === 0 ? <p class="dim">Nothing has this name. For a record, write a resource and an ID: sites 2.</p> : null}
    </>
  )
}

/** A record: `sites 2`. */
function findDestinations(text: string): Destination[] {
  const [first = '', ...others] = text
    .trim()
    .toLowerCase()
    .split(/[\s/]+/)
  const resources = outline.value?.resources ?? []
  const id = text
    .trim()
    .split(/[\s/]+/)
    .slice(1)
    .join(' ')
  const records = others.length === 0 ? [] : resources.filter(({ name, singular }) => name.startsWith(first) || singular === first)
  const all: Destination[] = [
    ...records.map(({ name, singular }) => ({ text: `${name} ${id}`, hint: singular, href: hrefOf('data', [name, id]) })),
    ...resources.map(({ name }) => ({ text: name, hint: 'resource', href: hrefOf('data', [name]) })),
    ...SCREENS.map(({ name, title, about }) => ({ text: title, hint: about, href: hrefOf(name) })),
  ]
  const words = text.trim().toLowerCase()
  return all.filter((each, index) => index < records.length || each.text.toLowerCase().includes(words)).slice(0, SHOWN)
}
