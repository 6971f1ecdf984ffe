/** Statement sentence: puts a statement of MikroORM's schema generator into words. */

const NAME = String.raw`((?:"(?:[^"]|"")+"\.?)+)`

const FORMS: readonly (readonly [pattern: RegExp, say: (...parts: string[]) => string])[] = [
  [new RegExp(`^create table ${NAME}`, 'i'), table => `The table ${table} is added.`],
  [new RegExp(`^create (?:unique )?index ${NAME} on ${NAME}`, 'i'), (index, table) => `The index ${index} of ${table} is added.`],
  [new RegExp(`^create (?:or replace )?(?:materialized )?view ${NAME}`, 'i'), view => `The view ${view} is made.`],
  [new RegExp(`^create type ${NAME}`, 'i'), type => `The type ${type} is added.`],
  [new RegExp(`^alter type ${NAME} add value`, 'i'), type => `The type ${type} gets a value.`],
  [
    new RegExp(`^alter table ${NAME} add constraint ${NAME}`, 'i'),
    (table, constraint) => `${table}: the constraint ${constraint} is added.`,
  ],
  [
    new RegExp(`^alter table ${NAME} drop constraint ${NAME}`, 'i'),
    (table, constraint) => `${table}: the constraint ${constraint} is taken off.`,
  ],
  [
    new RegExp(`^alter table ${NAME} drop column ${NAME}`, 'i'),
    (table, column) => `${table}.${column}: the column is dropped, with its values.`,
  ],
  [new RegExp(`^alter table ${NAME} add (?:column )?${NAME}`, 'i'), (table, column) => `${table}.${column}: the column is added.`],
  [
    new RegExp(`^alter table ${NAME} alter column ${NAME} type (.+?)(?: using .*)?$`, 'i'),
    (table, column, type) => `${table}.${column}: its values become ${type}.`,
  ],
  [
    new RegExp(`^alter table ${NAME} alter column ${NAME} set not null`, 'i'),
    (table, column) => `${table}.${column}: it may be empty no more.`,
  ],
  [new RegExp(`^alter table ${NAME} alter column ${NAME} drop not null`, 'i'), (table, column) => `${table}.${column}: it may be empty.`],
  [
    new RegExp(`^alter table ${NAME} alter column ${NAME} set default (.+)$`, 'i'),
    (table, column, value) => `${table}.${column}: new rows get ${value} by default.`,
  ],
  [
    new RegExp(`^alter table ${NAME} alter column ${NAME} drop default`, 'i'),
    (table, column) => `${table}.${column}: new rows get nothing by default.`,
  ],
  [new RegExp(`^drop index ${NAME}`, 'i'), index => `The index ${index} is made anew.`],
]

export function sayStatement(sql: string): string {
  for (const [pattern, say] of FORMS) {
    const found = pattern.exec(sql)
    if (found !== null) return say(...found.slice(1).map(part => part.replaceAll(/^"((?:[^"]|"")+)"$/g, '$1')))
  }
  return `The database is told: ${sql.split('\n')[0]!}`
}
