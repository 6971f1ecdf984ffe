/** Tells whether a foreign key of a file has the same rules (`on delete cascade`) as the entity's. */
import type { DatabaseTable, ForeignKey } from '@mikro-orm/sqlite'

/** In lower case. */
interface FileRules {
  readonly onDelete: string
  readonly onUpdate?: string
}

export function hasSameRules(key: ForeignKey, found: FileRules, target: DatabaseTable): boolean {
  // Without a rule for updates, the rule of the file stays.
  return hasSameDelete(key, found, target) && (key.updateRule === undefined || isSameRule(key, key.updateRule, found.onUpdate, target))
}

export function hasSameDelete(key: ForeignKey, { onDelete }: FileRules, target: DatabaseTable): boolean {
  return isSameRule(key, key.deleteRule, onDelete, target)
}

/** For links in a primary key, as in a many-to-many table, MikroORM assumes `cascade`: any rule of the file fits. */
function isSameRule({ columnNames }: ForeignKey, wanted: string | undefined, there: string | undefined, target: DatabaseTable): boolean {
  const key = target.getPrimaryKey()?.columnNames ?? []
  const isAssumed = plain(wanted) === 'cascade' && columnNames.every(column => key.includes(column))
  return isAssumed || plain(wanted) === plain(there)
}

function plain(rule: string | undefined): string {
  return rule === undefined || rule.toLowerCase() === 'restrict' ? 'no action' : rule.toLowerCase()
}
