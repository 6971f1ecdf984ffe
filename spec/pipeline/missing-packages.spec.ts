/**
 * Packages that a database needs and that are not installed: one line says which, and how to install them. Node is told that they are
 * missing.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import { LIBRARY } from '../helpers/command.ts'

/** Creates an engine in a process that does not find some packages, and returns the message. */
async function messageWithout(packages: readonly string[], database: string): Promise<string> {
  const script = `
    import { registerHooks } from 'node:module'
    const missing = ${JSON.stringify(packages)}
    registerHooks({ resolve(specifier, context, next) {
      if (!missing.includes(specifier)) return next(specifier, context)
      throw Object.assign(new Error("Cannot find package '" + specifier + "' imported from here"), { code: 'ERR_MODULE_NOT_FOUND' })
    } })
    const { defineEntity, p } = await import('@mikro-orm/core')
    const { RestEngine } = await import(${JSON.stringify(LIBRARY)})
    const User = defineEntity({ name: 'User', properties: { id: p.integer().primary() } })
    await RestEngine.create({ entities: [User], database: ${JSON.stringify(database)} }).then(() => console.log('opened'), error => console.log(error.message))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], { cwd: import.meta.dirname })
  return stdout.trim()
}

describe('a package that is missing', () => {
  it('is named with the line that installs it', async () => {
    const messages = await Promise.all([
      messageWithout(['pg'], 'postgres://localhost/none'),
      messageWithout(['@mikro-orm/postgresql'], 'postgres://localhost/none'),
      messageWithout(['@electric-sql/pglite'], 'pglite:'),
      messageWithout(['@electric-sql/pglite', '@mikro-orm/postgresql', 'pg'], 'pglite:'),
      messageWithout(['@mikro-orm/sqlite'], ':memory:'),
    ])
    const version = String.raw`@7\.\d+\.\d+`
    const server = `npm install @mikro-orm/postgresql${version} pg$`
    for (const [index, expected] of [
      `^A PostgreSQL database needs two packages .*: ${server}`,
      `^A PostgreSQL database needs two packages .*: ${server}`,
      '^A PGlite database needs one more package: npm install @electric-sql/pglite$',
      `^A PGlite database needs three packages .*: npm install @electric-sql/pglite @mikro-orm/postgresql${version} pg$`,
      `^A SQLite database needs the driver of MikroORM: npm install @mikro-orm/sqlite${version}$`,
    ].entries())
      assert.match(messages[index]!, new RegExp(expected))
  })
})
