/** Which files of lib/ may use what only Node has. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findNodeRoom, findNodeUse, listStaticModules } from '../../scripts/node-rooms.ts'

describe('rooms for Node', () => {
  test('finds modules of Node, and what is global in Node alone, with the line', () => {
    assert.deepEqual(findNodeUse("import { join } from 'node:path'"), { use: 'node:', line: 1 })
    assert.deepEqual(findNodeUse("const fs = await import('node:fs')"), { use: 'node:', line: 1 })
    assert.deepEqual(findNodeUse('/**\n * Writes a Buffer.\n */\nconst a = 1\nreturn Buffer.from(a)'), { use: 'Buffer', line: 5 })
    assert.deepEqual(findNodeUse('function read(bytes: Buffer): void {}'), { use: 'Buffer', line: 1 })
    assert.deepEqual(findNodeUse('return process.env'), { use: 'process', line: 1 })
    assert.deepEqual(findNodeUse('setImmediate(go)'), { use: 'setImmediate', line: 1 })
    assert.deepEqual(findNodeUse('builtin.crypto.hash(text)'), { use: 'builtin', line: 1 })
  })

  test('lets texts and comments speak of Node', () => {
    assert.equal(findNodeUse("new Set(['Date', 'Buffer'])\n// A Buffer would do.\nconst why = `process.env.SECRET`"), undefined)
    assert.equal(findNodeUse('/** In this process. */\nArrayBuffer.isView(value)'), undefined)
  })

  test('names the room of a file', () => {
    assert.equal(findNodeRoom('doors/server/http.ts'), 'doors/')
    assert.equal(findNodeRoom('records/plan/plan.ts'), undefined)
  })

  test('finds modules that load with a file, and not types', () => {
    const text = "import type { Server } from 'node:http'\nimport { join, sep } from 'node:path'\nawait import('node:fs')"
    assert.deepEqual(listStaticModules(text), ['node:path'])
  })
})
