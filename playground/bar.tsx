/** Bar: says above the workbench where its engine runs, and changes, passes on and saves the data. */
import { render } from 'preact'
import { useState } from 'preact/hooks'
import { DataDialog } from './data-dialog.tsx'
import { keepData, writeLink, type GivenData } from './given-data.ts'
import { LinkDialog } from './link-dialog.tsx'
import { writeData, type OwnData, type PlayedWorld } from './played-world.ts'
import { saveFile } from './save-file.ts'

interface Refused {
  readonly data: GivenData | undefined
  readonly error: Error
}

/** The workbench has rendered itself into the body: a child that it does not know stays. */
export function showBar(world: PlayedWorld, refused: Refused | undefined): void {
  const place = document.createElement('aside')
  place.className = 'playground'
  place.ariaLabel = 'Playground'
  document.querySelector('.top')!.before(place)
  render(<Bar world={world} refused={refused} />, place)
}

type Shown =
  | { readonly dialog: 'data'; readonly data: GivenData | undefined; readonly error?: Error }
  | { readonly dialog: 'link'; readonly link: Promise<string> }

function Bar({ world: { engine, example, own }, refused }: { readonly world: PlayedWorld; readonly refused: Refused | undefined }) {
  const [shown, setShown] = useState<Shown | undefined>(refused === undefined ? undefined : { dialog: 'data', ...refused })
  const close = (): void => setShown(undefined)
  const readData = async ({ as, file }: OwnData): Promise<GivenData> => ({ text: await writeData(engine, file), as })
  const showData = async (): Promise<void> => setShown({ dialog: 'data', data: own === undefined ? undefined : await readData(own) })
  return (
    <>
      <p>
        <strong>Playground</strong> The server is this page: nothing leaves your browser.
      </p>
      {example === undefined ? null : (
        <p>
          Try <a href={`#/console/GET?${example}`}>GET {example}</a>
        </p>
      )}
      <span class="grow" />
      <div class="bar">
        {own === undefined ? null : (
          <>
            <button type="button" onClick={() => setShown({ dialog: 'link', link: readData(own).then(writeLink) })}>
              Link
            </button>
            <button type="button" onClick={() => void readData(own).then(({ text }) => saveFile('db.json', text))}>
              Download
            </button>
            <button type="button" onClick={serveSample}>
              Sample
            </button>
          </>
        )}
        <button type="button" class="main" onClick={() => void showData()}>
          Your db.json …
        </button>
      </div>
      {shown?.dialog === 'data' ? (
        <DataDialog given={shown.data} error={shown.error} notes={own === undefined ? [] : engine.notes} onClose={close} />
      ) : null}
      {shown?.dialog === 'link' ? <LinkDialog link={shown.link} onClose={close} /> : null}
    </>
  )
}

function serveSample(): void {
  keepData(undefined)
  location.assign(location.pathname)
}
