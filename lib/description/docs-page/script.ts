/** The script of the docs page, for copy buttons and log-in. The token ends with the tab (`sessionStorage`). */
export const SCRIPT = `'use strict'
const KEY = 'mikro-rest token of ' + new URL('.', document.currentScript.src).pathname
const readToken = () => sessionStorage.getItem(KEY) ?? undefined

function addCopyButtons() {
  if (navigator.clipboard === undefined) return
  for (const command of document.querySelectorAll('.command')) {
    const button = document.createElement('button')
    button.type = 'button'
    button.textContent = 'Copy'
    const title = command.closest('[data-title]')?.dataset.title
    button.setAttribute('aria-label', title === undefined ? 'Copy' : 'Copy: ' + title)
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(command.querySelector('pre').textContent)
      button.textContent = 'Copied'
      setTimeout(() => { button.textContent = 'Copy' }, 1500)
    })
    command.append(button)
  }
}

/** Shows the page to the holder of a token; false for a refused token. */
async function showWith(token) {
  const answer = await fetch(location.href, { headers: { authorization: 'Bearer ' + token } })
  if (!answer.ok) return false
  sessionStorage.setItem(KEY, token)
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
  document.title = page.title
  document.body.replaceWith(document.adoptNode(page.body))
  start()
  document.querySelector('#main').focus()
  return true
}

function takeLogIn(form) {
  const problem = form.querySelector('.problem')
  form.addEventListener('submit', async event => {
    event.preventDefault()
    problem.textContent = ''
    const given = Object.fromEntries(new FormData(form))
    try {
      let token = given.token
      if (form.dataset.action !== undefined) {
        const headers = { 'content-type': 'application/json' }
        const answer = await fetch(form.dataset.action, { method: 'POST', headers, body: JSON.stringify(given) })
        const body = await answer.json()
        if (!answer.ok) throw new Error(body.detail)
        token = body.auth_token
      }
      if (!(await showWith(token))) throw new Error('This token is not taken.')
    } catch (error) {
      problem.textContent = error.message
      form.querySelector('input').focus()
    }
  })
}

function takeLogOut(button) {
  button.hidden = readToken() === undefined
  button.addEventListener('click', () => {
    sessionStorage.removeItem(KEY)
    location.reload()
  })
}

function start() {
  addCopyButtons()
  const button = document.querySelector('[data-log-out]')
  if (button !== null) takeLogOut(button)
  const form = document.querySelector('form')
  if (form === null) return
  takeLogIn(form)
  const token = readToken()
  if (token !== undefined) showWith(token).then(isShown => { if (!isShown) sessionStorage.removeItem(KEY) })
}

start()
`
