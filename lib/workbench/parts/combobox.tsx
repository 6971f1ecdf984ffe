/** A field with suggestions, by the ARIA pattern: arrows choose, Enter and Tab take, Escape closes. */
import type { RefObject } from 'preact'
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'

export interface Choice {
  readonly text: string
  readonly hint: string
}

interface ComboboxProps {
  readonly label: string
  readonly value: string
  readonly options: readonly Choice[]
  readonly placeholder?: string
  readonly field?: RefObject<HTMLInputElement | null>
  /** Always open, with the first option chosen. */
  readonly isOpen?: boolean
  /** Typing chooses the first option, and taking an option closes the list. */
  readonly isEager?: boolean
  readonly describedBy?: string | undefined
  readonly isInvalid?: boolean
  readonly onInput: (value: string, caret: number) => void
  readonly onTake: (option: Choice) => void
  /** Enter without a chosen option. */
  readonly onSubmit: () => void
}

export function Combobox({ isOpen = false, ...given }: ComboboxProps) {
  const { label, value, options, placeholder, field, isEager = false, describedBy, isInvalid, onInput, onTake, onSubmit } = given
  const id = useId()
  const ownField = useRef<HTMLInputElement>(null)
  const [isShown, setShown] = useState(isOpen)
  const [active, setActive] = useState(isOpen ? 0 : -1)
  const isTyped = useRef(false)
  const input = field ?? ownField
  const isListed = isShown && options.length > 0
  useLayoutEffect(() => setActive(isOpen || (isEager && isTyped.current) ? 0 : -1), [options, isOpen, isEager])
  useEffect(() => document.getElementById(`${id}-${active}`)?.scrollIntoView({ block: 'nearest' }), [active, id])
  const tell = (): void => onInput(input.current?.value ?? '', input.current?.selectionStart ?? 0)
  const take = (option: Choice): void => {
    // Other fields suggest a further part.
    if (isEager) setShown(false)
    isTyped.current = false
    onTake(option)
  }
  const keys = makeKeys({ isListed, active, options, isOpen, setShown, setActive, onTake: take, onSubmit, tell })
  return (
    <div class="combobox">
      <input
        ref={input}
        role="combobox"
        aria-label={label}
        aria-expanded={isListed}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={isListed && active >= 0 ? `${id}-${active}` : undefined}
        aria-describedby={describedBy}
        aria-invalid={isInvalid}
        autocomplete="off"
        spellcheck={false}
        value={value}
        placeholder={placeholder}
        onInput={() => {
          isTyped.current = true
          setShown(true)
          tell()
        }}
        onKeyDown={keys}
        onBlur={() => setShown(isOpen)}
      />
      <Options id={id} label={label} options={options} active={active} isListed={isListed} onTake={take} />
    </div>
  )
}

interface OptionsProps extends Pick<ComboboxProps, 'label' | 'options' | 'onTake'> {
  readonly id: string
  readonly active: number
  readonly isListed: boolean
}

function Options({ id, label, options, active, isListed, onTake }: OptionsProps) {
  return (
    <ul id={`${id}-list`} role="listbox" aria-label={`Suggestions: ${label}`} hidden={!isListed}>
      {options.map((option, index) => (
        <li
          key={option.text}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === active}
          onMouseDown={event => {
            // Keeps the focus in the field.
            event.preventDefault()
            onTake(option)
          }}
        >
          <span>{option.text}</span>
          <small>{option.hint}</small>
        </li>
      ))}
    </ul>
  )
}

interface ComboboxState extends Pick<ComboboxProps, 'options' | 'onTake' | 'onSubmit'> {
  readonly isListed: boolean
  readonly isOpen: boolean
  readonly active: number
  readonly setShown: (isShown: boolean) => void
  readonly setActive: (index: number) => void
  readonly tell: () => void
}

function makeKeys({ isListed, isOpen, active, options, setShown, setActive, onTake, onSubmit, tell }: ComboboxState) {
  return (event: KeyboardEvent): void => {
    const chosen = isListed ? options[active] : undefined
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0) {
      event.preventDefault()
      if (!isListed) {
        setShown(true)
        tell()
      } else setActive(active < 0 && step < 0 ? options.length - 1 : (active + step + options.length) % options.length)
    } else if (chosen !== undefined && (event.key === 'Enter' || event.key === 'Tab')) {
      event.preventDefault()
      onTake(chosen)
    } else if (event.key === 'Enter') {
      event.preventDefault()
      setShown(isOpen)
      onSubmit()
    } else if (event.key === 'Escape' && isListed && !isOpen) {
      event.preventDefault()
      event.stopPropagation()
      setShown(false)
    }
  }
}
