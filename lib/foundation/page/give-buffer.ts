/** Give buffer: gives MikroORM the class Buffer, with which it copies values, where the page has none. Loads the package `buffer`. */

export async function giveBuffer(): Promise<void> {
  const page = globalThis as { ['Buffer']?: unknown }
  if (page['Buffer'] === undefined) page['Buffer'] = (await import('buffer/index.js')).default.Buffer
}
