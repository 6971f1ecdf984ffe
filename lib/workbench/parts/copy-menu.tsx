/** A menu of texts to copy. Shows the text, to copy by hand where the browser refuses. */
import { useEffect, useId, useState } from 'preact/hooks'

export interface CopyItem {
  readonly name: string
  /** Undefined: `why` states the reason. */
  readonly write: (() => string | Promise<string>) | undefined
  readonly why?: string
}

export function CopyMenu({ copies, about }: { readonly copies: readonly CopyItem[]; readonly about: string }) {
  const id = useId()
  const [chosen, setChosen] = useState<{ readonly name: string; readonly text: string } | undefined>(undefined)
  const [isCopied, setCopied] = useState(false)
  useEffect(() => setChosen(undefined), [about])
  const choose = async ({ name, write }: CopyItem): Promise<void> => {
    const text = await write!()
    setChosen({ name, text })
    setCopied(await copyText(text))
  }
  return (
    <div class="copies">
      <div class="bar" role="group" aria-label={`Copy ${about}`}>
        <span class="dim">Copy as</span>
        {copies.map(copy => (
          <button
            key={copy.name}
            type="button"
            disabled={copy.write === undefined}
            title={copy.why}
            aria-pressed={chosen?.name === copy.name}
            onClick={() => void choose(copy)}
          >
            {copy.name}
          </button>
        ))}
      </div>
      {chosen === undefined ? null : (
        <div class="copied">
          <div class="card-head">
            <span id={id} role="status">
              {isCopied ? `Copied as ${chosen.name}` : `As ${chosen.name}: copy it by hand, the browser has refused`}
            </span>
            <button type="button" class="quiet" aria-label="Close the copy" onClick={() => setChosen(undefined)}>
              ✕
            </button>
          </div>
          <pre tabIndex={0} aria-labelledby={id} role="region">
            {chosen.text}
          </pre>
        </div>
      )}
    </div>
  )
}

/** False: the browser refuses. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    // No permission, or no secure address.
    return false
  }
}
