/** Link dialog: shows a link that carries the data. */
import { useState } from 'preact/hooks'
import { copyText } from '../lib/workbench/parts/copy-menu.tsx'
import { useLoad } from '../lib/workbench/parts/use-load.ts'
import { Dialog, Problem } from './dialog.tsx'

interface LinkDialogProps {
  readonly link: Promise<string>
  readonly onClose: () => void
}

export function LinkDialog({ link, onClose }: LinkDialogProps) {
  const { data, error } = useLoad(() => link, [link])
  const [copied, setCopied] = useState<boolean>()
  return (
    <Dialog title="A link to this world" onClose={onClose}>
      <p class="dim">The link carries the records as they are now, behind “#”: browsers send that part to no server.</p>
      <Problem error={error} />
      {data === undefined ? null : (
        <input class="code link" aria-label="Link" readOnly value={data} onFocus={event => event.currentTarget.select()} />
      )}
      <div class="bar">
        <button type="button" class="main" disabled={data === undefined} onClick={() => void copyText(data!).then(setCopied)}>
          Copy
        </button>
        <button type="button" onClick={onClose}>
          Close
        </button>
        <span role="status" class="dim">
          {copied === undefined ? '' : copied ? 'Copied.' : 'Copy it by hand: the browser has refused.'}
        </span>
      </div>
    </Dialog>
  )
}
