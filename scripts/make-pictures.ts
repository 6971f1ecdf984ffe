/**
 * Make pictures: makes the pictures that pages of docs show, in docs/pictures/ (`npm run pictures`, or with the names of some). Starts the
 * workbench on the sample and on a recording of it, and drives Chromium. Needs a Chromium: `CHROMIUM=/usr/bin/chromium`, else that of the
 * path.
 */
import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { dirname } from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { chromium } from '@playwright/test'
import sample from '../fixtures/sample/index.ts'
import { createServer, RestEngine } from '../lib/index.ts'
import { PICTURES, RECORDING, prepare } from './pictures.ts'
import type { Picture } from './pictures.ts'
import { COUNTED_DURATIONS, TIME, countDurations } from './still-clocks.ts'

const FOLDER = fileURLToPath(new URL('../docs/pictures/', import.meta.url))
const BIN = fileURLToPath(new URL('../bin/serve.js', import.meta.url))
const WIDTH = 1200
/** From 0 to 100: letters are sharp, and a picture has a few tens of kilobytes. */
const QUALITY = 80

const wanted = process.argv.slice(2)
const unknown = wanted.filter(name => !PICTURES.some(picture => picture.name === name))
if (unknown.length > 0)
  throw new RangeError(`There is no picture ${unknown.join(', ')}; those are ${PICTURES.map(({ name }) => name).join(', ')}.`)

countDurations()
mkdirSync(dirname(RECORDING), { recursive: true })
mkdirSync(FOLDER, { recursive: true })
await using engine = await RestEngine.create(sample)
await prepare(engine)
const server = createServer(engine, { workbench: { title: 'the sample model' }, docs: true }).listen(0, '127.0.0.1')
await once(server, 'listening')
const command = spawn(process.execPath, [BIN, RECORDING, '--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'] })
const browser = await chromium.launch({
  executablePath: findBrowser(),
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--font-render-hinting=none'],
})
try {
  const own = `http://127.0.0.1:${(server.address() as AddressInfo).port}/_ui`
  const recorded = await readAddress(command)
  for (const picture of PICTURES.filter(({ name }) => wanted.length === 0 || wanted.includes(name)))
    await take(picture, picture.isRecording === true ? recorded : own)
} finally {
  await browser.close()
  command.kill()
  server.close()
  server.closeAllConnections()
  rmSync(dirname(RECORDING), { recursive: true })
}

async function take({ name, place, height, act }: Picture, address: string): Promise<void> {
  const context = await browser.newContext({ viewport: { width: WIDTH, height }, reducedMotion: 'reduce' })
  const page = await context.newPage()
  await page.clock.setFixedTime(TIME)
  await page.addInitScript(COUNTED_DURATIONS)
  await page.goto(address + place)
  await page.locator('.side .resources span').last().getByText(/\d/).waitFor()
  // A screen is loaded when it is opened.
  await page.locator('#main').locator('h1, h2').first().waitFor({ state: 'attached' })
  await act?.(page)
  // It blinks.
  await page.evaluate(`document.activeElement.style.caretColor = 'transparent'`)
  // The library of the browser driver writes PNG and JPEG alone.
  const session = await context.newCDPSession(page)
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY })
  const bytes = Buffer.from(data, 'base64')
  writeFileSync(FOLDER + name, bytes)
  console.log(`${name} ${(bytes.length / 1000).toFixed(1)} KB`)
  await context.close()
}

/** The address of the workbench that the command prints. */
async function readAddress({ stdout }: ChildProcessByStdio<null, Readable, null>): Promise<string> {
  let text = ''
  for await (const chunk of stdout) {
    text += String(chunk)
    const address = /http:\S+\/_ui/.exec(text)?.[0]
    if (address !== undefined) {
      // It says more, which nobody reads.
      stdout.resume()
      return address
    }
  }
  throw new Error(`The command ended without the address of a workbench: ${text}`)
}

function findBrowser(): string {
  const names = [process.env['CHROMIUM'] ?? '', 'chromium', 'chromium-browser', 'google-chrome'].filter(name => name !== '')
  const { stdout } = spawnSync('sh', ['-c', names.map(name => `command -v ${name}`).join(' || ')], { encoding: 'utf8' })
  if (stdout.trim() === '') throw new Error(`There is no Chromium: ${names.join(', ')}.`)
  return stdout.trim()
}
