/** Imports CSV. Matches columns, tries the import in a separate world, then imports all in a single transaction. */
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { ErrorNotice } from '../parts/notice.tsx'
import { Refusal } from '../state/ask.ts'
import { unavailable } from '../state/live.ts'
import { findResource, type OutlinedResource } from '../state/outline.ts'
import { importable, matchColumns, parseCsv, readCsvRecords, type CsvFile } from './csv.ts'
import { readLineFaults } from './field-faults.ts'
import { createRecords, tryRecords } from './save.ts'

interface ImportDialogProps {
  readonly resource: OutlinedResource
  readonly onImported: (ids: readonly string[]) => void
  readonly onClose: () => void
}

const SHOWN = 20

interface Tried {
  readonly columns: readonly (string | undefined)[]
  readonly faults: readonly string[]
}

export function ImportDialog({ resource, onImported, onClose }: ImportDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const [file, setFile] = useState<CsvFile>()
  const [error, setError] = useState<Error>()
  const [columns, setColumns] = useState<readonly (string | undefined)[]>([])
  useLayoutEffect(() => dialog.current?.showModal(), [])
  const open = async (given: File | undefined): Promise<void> => {
    try {
      const read = given === undefined ? undefined : parseCsv(await given.text())
      setFile(read)
      setColumns(read === undefined ? [] : matchColumns(read.names, resource))
      setError(undefined)
    } catch (thrown) {
      setFile(undefined)
      setError(thrown as Error)
    }
  }
  return (
    <dialog ref={dialog} class="dialog wide" aria-labelledby="import-title" onClose={onClose}>
      <h2 id="import-title">Import {resource.name} from CSV</h2>
      <p class="dim">The first line names the columns. Either all records are written or none.</p>
      <input
        type="file"
        accept=".csv,.tsv,.txt,text/csv"
        aria-label="CSV file"
        onChange={event => void open(event.currentTarget.files?.[0])}
      />
      {error === undefined ? null : <p class="fault">{error.message}</p>}
      {file === undefined ? (
        <div class="bar">
          <button type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
        </div>
      ) : (
        <>
          <Columns {...{ resource, file, columns }} onChange={setColumns} />
          <Actions {...{ resource, file, columns, onImported }} onCancel={() => dialog.current?.close()} />
        </>
      )}
    </dialog>
  )
}

interface ColumnsProps {
  readonly resource: OutlinedResource
  readonly file: CsvFile
  readonly columns: readonly (string | undefined)[]
  readonly onChange: (columns: readonly (string | undefined)[]) => void
}

function Columns({ resource, file, columns, onChange }: ColumnsProps) {
  return (
    <div class="scroll columns" tabIndex={0} role="region" aria-label="Columns">
      <table>
        <thead>
          <tr>
            <th scope="col">column</th>
            <th scope="col">first value</th>
            <th scope="col">attribute</th>
          </tr>
        </thead>
        <tbody>
          {file.names.map((name, index) => (
            // Two columns may have the same name.
            <tr key={index}>
              <th scope="row">{name}</th>
              <td class="first-value">{file.rows[0]?.[index]}</td>
              <td>
                <select
                  aria-label={`Attribute of ${name}`}
                  value={columns[index] ?? ''}
                  onChange={event =>
                    onChange(columns.with(index, event.currentTarget.value === '' ? undefined : event.currentTarget.value))
                  }
                >
                  <option value="">leave it out</option>
                  {resource.open === true && importable(resource).every(attribute => attribute.name !== name) ? (
                    <option value={name}>new: {name}</option>
                  ) : null}
                  {importable(resource).map(attribute => (
                    <option key={attribute.name}>{attribute.name}</option>
                  ))}
                </select>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface ActionsProps extends Omit<ColumnsProps, 'onChange'> {
  readonly onImported: (ids: readonly string[]) => void
  readonly onCancel: () => void
}

function Actions({ onCancel, ...given }: ActionsProps) {
  const { records, found, error, isBusy, isChecked, why, attempt, write } = useImport(given)
  const number = `${records.length.toLocaleString('en')} ${records.length === 1 ? 'record' : 'records'}`
  const isOff = isBusy || records.length === 0
  return (
    <>
      <div role="status">
        {found === undefined || error !== undefined ? null : found.length === 0 ? (
          <p class="good">All {number} can be imported.</p>
        ) : (
          <Faults faults={found} />
        )}
      </div>
      {error === undefined ? null : <ErrorNotice error={error} />}
      {why === undefined ? null : <p class="dim">The import cannot be tried first: {why}</p>}
      <div class="bar">
        {why === undefined ? (
          <button type="button" class={isChecked ? undefined : 'main'} disabled={isOff} onClick={attempt}>
            Try it
          </button>
        ) : null}
        <button type="button" class={isChecked ? 'main' : undefined} disabled={isOff || !isChecked} onClick={write}>
          Import {number}
        </button>
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </>
  )
}

function useImport({ resource, file, columns, onImported }: Omit<ActionsProps, 'onCancel'>) {
  const [tried, setTried] = useState<Tried>()
  const [error, setError] = useState<Error>()
  const [isBusy, setBusy] = useState(false)
  const { records, faults } = useMemo(() => readCsvRecords(file, columns, resource, findResource), [file, columns, resource])
  const why = unavailable.value['fork']
  const found = tried?.columns === columns ? tried.faults : undefined
  const run = async (work: () => Promise<void>): Promise<void> => {
    setBusy(true)
    try {
      await work()
      setError(undefined)
    } catch (thrown) {
      const byLine = thrown instanceof Refusal ? readLineFaults(thrown.answer.body, file.lines) : []
      setTried({ columns, faults: byLine })
      setError(byLine.length === 0 ? (thrown as Error) : undefined)
    }
    setBusy(false)
  }
  const attempt = (): void =>
    void run(async () => {
      if (faults.length === 0) await tryRecords(resource, records)
      setTried({ columns, faults })
    })
  const write = (): void => void run(async () => onImported(await createRecords(resource, records)))
  const isChecked = why === undefined ? found?.length === 0 && error === undefined : faults.length === 0
  return { records, found, error, isBusy, isChecked, why, attempt, write }
}

function Faults({ faults }: { readonly faults: readonly string[] }) {
  return (
    <ul class="faults">
      {faults.slice(0, SHOWN).map(fault => (
        <li key={fault}>{fault}</li>
      ))}
      {faults.length > SHOWN ? <li>and {faults.length - SHOWN} more</li> : null}
    </ul>
  )
}
