/** A box to scroll sideways. A shadow at the right edge means further columns. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

interface ScrollBoxProps {
  readonly label: string
  readonly isBusy?: boolean
  readonly children: ComponentChildren
}

export function ScrollBox({ label, isBusy, children }: ScrollBoxProps) {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const current = box.current!
    const watcher = new ResizeObserver(() => markEdges(current))
    watcher.observe(current)
    watcher.observe(current.firstElementChild!)
    return () => watcher.disconnect()
  }, [])
  return (
    <div class="edges">
      <div
        ref={box}
        class="scroll"
        tabIndex={0}
        role="region"
        aria-label={label}
        aria-busy={isBusy}
        onScroll={event => markEdges(event.currentTarget)}
      >
        {children}
      </div>
    </div>
  )
}

function markEdges(box: HTMLElement): void {
  const left = box.scrollWidth - box.clientWidth - box.scrollLeft
  box.parentElement?.toggleAttribute('data-more', left > 1)
}
