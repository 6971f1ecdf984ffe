/** Shows statements, plans, missing indexes and times of a request. */
import type { PlanStep } from '../../records/database/explained-statements.ts'
import type { FullEntry } from './read-entry.ts'

type Ran = { readonly [Part in 'statements' | 'ran' | 'writes' | 'cached' | 'hints']?: FullEntry[Part] | undefined }

export function StatementsPart({
  entry: { statements, ran = statements?.length ?? 0, writes = [], cached, hints = [] },
}: {
  readonly entry: Ran
}) {
  if (statements === undefined) return <p class="dim">The journal keeps the statements of this request no longer.</p>
  if (statements.length === 0) return <p class="dim">This request ran no statement.</p>
  const rows = statements.reduce((sum, statement) => sum + (statement.rows ?? 0), 0)
  const time = statements.reduce((sum, { duration }) => sum + duration, 0)
  return (
    <>
      <p class="dim">
        {[
          `${ran} ${ran === 1 ? 'statement' : 'statements'}, ${time.toFixed(2)} ms, ${rows.toLocaleString('en')} rows`,
          ...writes,
          cached === true ? 'plans from the cache' : '',
        ]
          .filter(Boolean)
          .join('; ')}
      </p>
      {hints.map(hint => (
        <div key={hint.sql} class="notice warn">
          <strong>An index is missing</strong>
          <p>{hint.detail}</p>
          <pre tabIndex={0}>{hint.entity ?? hint.sql}</pre>
        </div>
      ))}
      <ol class="statements">
        {statements.map(({ sql, parameters, duration, rows: count, plan }, index) => (
          <li key={index}>
            <pre tabIndex={0}>{sql}</pre>
            <p class="dim">
              {duration.toFixed(2)} ms, {count === undefined ? 'failed' : `${count} ${count === 1 ? 'row' : 'rows'}`}
              {parameters.length === 0 ? '' : `, with ${JSON.stringify(parameters)}`}
            </p>
            {plan.length === 0 ? null : <Plan steps={plan} />}
          </li>
        ))}
      </ol>
      {ran > statements.length ? <p class="dim">and {ran - statements.length} more</p> : null}
    </>
  )
}

function Plan({ steps }: { readonly steps: readonly PlanStep[] }) {
  return (
    <ul class="plan">
      {steps.map((step, index) => (
        <li key={index} class={step.isCostly ? 'costly' : undefined}>
          {step.detail}
          {step.children.length === 0 ? null : <Plan steps={step.children} />}
        </li>
      ))}
    </ul>
  )
}

export function TimePart({ entry: { duration, timing, at } }: { readonly entry: FullEntry }) {
  const stages = Object.entries(timing ?? {})
  const most = Math.max(...stages.map(([, time]) => time), 0.001)
  return (
    <>
      <p>
        {duration.toFixed(2)} ms in all, at {at.replace('T', ' ').replace('Z', ' UTC')} of the world
      </p>
      {stages.length === 0 ? (
        <p class="dim">
          The stages are measured with <code>serverTiming: true</code>, or <code>--server-timing</code>.
        </p>
      ) : (
        <table class="times">
          <tbody>
            {stages.map(([name, time]) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td class="num">{time.toFixed(2)} ms</td>
                <td class="meter">
                  <meter min={0} max={most} value={time} aria-label={`${name}: ${time.toFixed(2)} ms`} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  )
}
