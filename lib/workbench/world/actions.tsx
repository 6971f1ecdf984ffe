/** The buttons of the world's cards. A card shows the code of the button last touched. */
import { createContext, type ComponentChildren } from 'preact'
import { useContext, useEffect, useId, useState } from 'preact/hooks'
import { copyText } from '../parts/copy-menu.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { unavailable } from '../state/live.ts'

interface CardState {
  readonly touch: (line: string) => void
  readonly run: (work: () => Promise<unknown>) => Promise<void>
}

const Card = createContext<CardState>({ touch: () => {}, run: async () => {} })

interface ActionCardProps {
  readonly title: string
  readonly line: string
  readonly class?: string
  readonly children: ComponentChildren
}

export function ActionCard({ title, line: first, class: look = '', children }: ActionCardProps) {
  const id = useId()
  const [touched, setTouched] = useState<string | undefined>(undefined)
  const [error, setError] = useState<Error | undefined>(undefined)
  // An edit in the form changes the line.
  useEffect(() => setTouched(undefined), [first])
  const run = async (work: () => Promise<unknown>): Promise<void> => {
    try {
      await work()
      setError(undefined)
    } catch (failure) {
      setError(failure as Error)
    }
  }
  return (
    <Card.Provider value={{ touch: setTouched, run }}>
      <section class={`card ${look}`} aria-labelledby={id}>
        <h2 id={id}>{title}</h2>
        {error === undefined ? null : <ErrorNotice error={error} />}
        {children}
        <CodeLine line={touched ?? first} />
      </section>
    </Card.Provider>
  )
}

function CodeLine({ line }: { readonly line: string }) {
  const [copied, setCopied] = useState('')
  return (
    <div class="code-line">
      <span class="dim">In code</span>
      <code>{line}</code>
      <button
        type="button"
        class="quiet"
        aria-label={copied === line ? undefined : `Copy ${line}`}
        onClick={() => void copyText(line).then(done => setCopied(done ? line : ''))}
      >
        {copied === line ? 'Copied' : 'Copy'}
      </button>
    </div>
  )
}

interface ActionProps {
  readonly line: string
  readonly onAct: () => Promise<unknown>
  /** A member of the engine, perhaps impossible. */
  readonly needs?: string
  readonly isMain?: boolean
  readonly label?: string
  /** For an action without a way back; a second click confirms. */
  readonly confirm?: string | undefined
  readonly disabled?: boolean
  readonly children: ComponentChildren
}

export function Action({ line, onAct, needs, isMain = false, label, confirm, disabled = false, children }: ActionProps) {
  const { touch, run } = useContext(Card)
  const [isAsked, setAsked] = useState(false)
  const why = needs === undefined ? undefined : unavailable.value[needs]
  const act = (): void => {
    touch(line)
    if (confirm !== undefined && !isAsked) setAsked(true)
    else {
      setAsked(false)
      void run(onAct)
    }
  }
  return (
    <button
      type="button"
      class={isMain || isAsked ? 'main' : undefined}
      disabled={why !== undefined || disabled}
      title={why ?? line}
      aria-label={isAsked ? undefined : label}
      onClick={act}
      onFocus={() => touch(line)}
      onMouseEnter={() => touch(line)}
      onBlur={() => setAsked(false)}
    >
      {isAsked ? confirm : children}
    </button>
  )
}

export function Why({ needs }: { readonly needs: string }) {
  const why = unavailable.value[needs]
  return why === undefined ? null : <p class="dim">{why}</p>
}
