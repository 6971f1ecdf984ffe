/** Grammar: writes the rules that all operations share, as Markdown for `info.description`. */
import { findParameterName } from '../../records/request/query-string.ts'
import { RESERVED } from '../../records/request/reserved-parameters.ts'
import type { ApiSource, DescribeOptions } from './source.ts'

export function describeGrammar(
  { vocabulary, limits, login, readOnly }: ApiSource,
  { attributes, brief, filters }: DescribeOptions,
): string {
  const called = (name: 'limit' | 'offset' | 'page' | 'sort'): string => `\`${findParameterName(vocabulary, name)}\``
  const reading = 'HEAD answers like GET, without a body; OPTIONS answers with `Allow`.'
  return [
    readOnly ? `Nothing can be written here. ${reading}` : `PATCH does what PUT does, at every path. ${reading}`,
    login === undefined
      ? ''
      : 'Every request needs a token, unless its operation says otherwise: log in, and send it as `Authorization: Bearer`.',
    attributes || brief || readOnly ? '' : describeOperations(),
    brief ? 'Paths below a record take the parameters of the paths of its resource, too: those that are not named here.' : '',
    attributes || brief
      ? ''
      : 'What any request may be refused with is the answer `default`: 400, 401, 413, 415, 500, 503 and what the application says.',
    '## Lists',
    `A list is paged by ${called('limit')} ` +
      `and ${called('offset')}${vocabulary.reserved.size > RESERVED.length ? ` or ${called('page')}` : ''}, ` +
      `and sorted by ${called('sort')}; the key is always the last key of the order.`,
    '## Filters',
    filters.ofRelations || filters.hops === undefined
      ? ''
      : `The list of a relation takes the filters of the list of its resource${readOnly ? '' : ', and so does its DELETE'}.`,
    [
      'Every parameter that is not reserved is a filter: `[!]path[|path...]operator value`. ' +
        'The parameters of lists are named without the `=` that ends their operator:',
      'the parameter `age>` with the value 18 is sent as `age>=18`, `name!` as `name!=Ann`, `name~` as `name~=ann`.',
    ].join(' '),
    [
      '- `=` is equal, or any of a comma-separated list; for strings `*` stands for any run of characters; `null` is NULL.',
      '- `!=` is the exact complement of `=`; so is a `!` before the name, with any operator.',
      '- `~=` is `=` without regard to case, for strings.',
      `- \`>=\` and \`<=\` compare with one value.${brief ? '' : STRICTLY}`,
      '- A path walks relations and embedded objects by dots: `publisher.name`. A relation itself is compared with IDs.',
      '- A list meets a filter when some record of it does.',
      '- `name|email` holds where one of the paths does. Several filters narrow one after another.',
      '- A backslash makes the next character literal.',
      '- An attribute that bears the name of another parameter is filtered with an underscore behind it: ' +
        `\`${findParameterName(vocabulary, 'limit')}_\`.`,
    ].join('\n'),
    `At most ${limits.maxFilters} filters, with paths of at most ${limits.maxPathRelations} relations; ` +
      'what is unknown is refused with a hint.',
  ]
    .filter(text => text !== '')
    .join('\n\n')
}

const STRICTLY =
  ' Strictly more is `age>18`, which has no `=` and so cannot be a parameter here: `!age<` with the value 18 is the same, but for NULL.'

/** Rules that a document with `attributes: true` repeats at each operation. */
function describeOperations(): string {
  return [
    '- A change gives some attributes; the others stay as they are.',
    '- In a body a relation takes IDs, which link, and objects, which make records of their own in the same transaction.',
    '- A PUT of an attribute or a relation answers with the record that it belongs to.',
    '- DELETE of a relation to one record deletes that record and the reference to it; ' +
      'DELETE of a list deletes the related records that meet the filters, all of them without filters.',
    '- GET of a list with `Accept: text/csv` or `application/x-ndjson` answers with the records of all pages as text.',
  ].join('\n')
}
