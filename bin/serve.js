#!/usr/bin/env node
/**
 * The command `mikro-rest`. Plain JavaScript that old versions of Node can read, so that it can tell them what is missing: started by a
 * Node older than package.json asks for, it runs itself again on the Node that is installed as the package `node`.
 */
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import module, { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const require = createRequire(import.meta.url)
const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
const required = manifest.engines.node.replace('>=', '')
// A repository has the TypeScript source; the published package has the compiled one only.
const source = new URL('../lib/doors/cli/main.ts', import.meta.url)
const isRepository = existsSync(source)

if (isOlder(process.versions.node, required)) runOnInstalledNode()
else if (module.registerHooks === undefined)
  giveUp('the command needs Node, whose hooks of modules Bun does not have: run it without --bun.')
else {
  // Most of the start is Node's work to find and compile the code of MikroORM.
  await import('./quick-start.js')
  process.exit(await (await loadCommand())(process.argv.slice(2)))
}

function isOlder(version, other) {
  const [a, b] = [version, other].map(text => text.split('.').map(Number))
  return a[0] !== b[0] ? a[0] < b[0] : a[1] !== b[1] ? a[1] < b[1] : a[2] < b[2]
}

async function loadCommand() {
  if (!isRepository) return await loadPublished()
  try {
    // Node 22.17 does not strip types by itself yet, and a module that failed once cannot be imported again.
    if (!process.features.typescript) await import('tsx')
    return (await import(source.href)).main
  } catch (error) {
    if (error.code === 'ERR_MODULE_NOT_FOUND') giveUp('the packages are not installed: run "npm ci" first.')
    throw error
  }
}

async function loadPublished() {
  try {
    return (await import('../dist/lib/doors/cli/main.js')).main
  } catch (error) {
    // npm installs peers by itself; with --legacy-peer-deps, and in other managers, it does not.
    if (error.code !== 'ERR_MODULE_NOT_FOUND' || !error.message.includes("'@mikro-orm/")) throw error
    const packages = ['@mikro-orm/core', '@mikro-orm/sqlite'].map(name => `${name}@${manifest.devDependencies[name]}`)
    giveUp(`MikroORM is not installed: npm install ${packages.join(' ')}`)
  }
}

function runOnInstalledNode() {
  // An installed Node that is too old itself must not run this again and again.
  const node = process.env.MIKRO_REST_SECOND_RUN ? undefined : installedNode()
  if (node === undefined) {
    const advice = isRepository ? 'run "npm ci", which installs one here' : 'install one here with "npm install node@24"'
    giveUp(`Node ${required} or newer is needed and this is ${process.versions.node}: update Node, or ${advice}.`)
  }
  const env = { ...process.env, MIKRO_REST_SECOND_RUN: '1' }
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit', env })
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  const pass = signal => child.kill(signal)
  for (const signal of signals) process.on(signal, pass)
  child.on('error', error => giveUp(`${node} cannot be run: ${error.message}`))
  child.on('exit', (code, signal) => {
    for (const each of signals) process.off(each, pass)
    // Who started this process must see it end as the child did.
    if (signal === null) process.exit(code)
    else process.kill(process.pid, signal)
  })
}

function installedNode() {
  try {
    const file = join(dirname(require.resolve('node/package.json')), 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
    return existsSync(file) ? file : undefined
  } catch {
    return undefined
  }
}

function giveUp(text) {
  console.error(`mikro-rest: ${text}`)
  process.exit(1)
}
