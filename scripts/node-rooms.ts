/**
 * Node rooms: the places of lib/ that may use what only Node has: modules (`node:`, `builtin`), `Buffer`, `process`, `setImmediate`. All
 * others ask `foundation/runtime`, so that another program could run them. The list may get shorter: a place without a use is a fault.
 */

/** Each with its reason. */
export const NODE_ROOMS: Readonly<Record<string, string>> = {
  'checks/': 'another backend is asked over the network',
  'databases/orm/orm-options.ts': 'the config of MikroORM names files',
  'databases/orm/run-migrations.ts': 'migrations are files',
  'databases/postgres/': 'a server is reached by sockets',
  'databases/sqlite/database/check-file.ts': 'files',
  'databases/sqlite/database/file-identity.ts': 'files',
  'databases/sqlite/database/open-read-only.ts': 'files',
  'databases/sqlite/driver/open-raw.ts': 'better-sqlite3 is for Node',
  'databases/sqlite/evolve/copy-file.ts': 'files',
  'databases/sqlite/open.ts': 'files',
  'doors/': 'servers, the command, runners of tests',
  'engine/options/database-option.ts': 'addresses of files',
  'engine/recording/': 'files',
  'foundation/base/builtins.ts': 'loads the modules of Node',
  'foundation/base/node-version.ts': 'asks for the version',
  'foundation/page/give-buffer.ts': 'MikroORM copies values by Buffer',
  'foundation/runtime/': 'Node is what runs the engine',
  'open-recording.ts': 'files',
  'records/database/install-line.ts': 'packages are files',
}

const MODULE = /['"]node:/
const USE = /\b(?:Buffer\b|process\.(?=\w)|setImmediate\(|builtin\.)/

/** Returns what a file uses of Node, as `Buffer`, with the number of the line. */
export function findNodeUse(text: string): { readonly use: string; readonly line: number } | undefined {
  const lines = text.replaceAll(/\/\*[\s\S]*?\*\//g, comment => comment.replaceAll(/[^\n]/g, '')).split('\n')
  for (const [index, line] of lines.entries()) {
    const code = line.replace(/\/\/ .*/, '')
    // Texts may speak of Node.
    const [use] = MODULE.exec(code) ?? USE.exec(code.replaceAll(/'[^']*'|`[^`]*`/g, "''")) ?? []
    if (use !== undefined) return { use: use.replaceAll(/['"(.]/g, ''), line: index + 1 }
  }
  return undefined
}

/** Returns the room of a file. Undefined: the file may use nothing of Node. */
export function findNodeRoom(file: string): string | undefined {
  return Object.keys(NODE_ROOMS).find(room => file.startsWith(room))
}

/** Modules of Node that a file loads when the file is loaded. */
export function listStaticModules(text: string): string[] {
  return [...text.matchAll(/^import (?!type\b)[^\n]*? from '(node:[^']+)'$/gm)].map(([, module = '']) => module)
}
