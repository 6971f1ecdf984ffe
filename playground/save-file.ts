/** Save file: hands texts to the reader as files. */

export function saveFile(name: string, text: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text]))
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 1000)
}

/** A browser asks the network for what a link downloads: the `fetch` of the page gives files of the workbench instead. */
export function saveByFetch(event: Event): void {
  const link = (event.target as Element).closest<HTMLAnchorElement>('a[download]')
  if (link === null || link.origin !== location.origin || link.protocol === 'blob:') return
  event.preventDefault()
  const { download, href } = link
  void fetch(href).then(async answer => saveFile(download, await answer.text()))
}
