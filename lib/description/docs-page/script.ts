/**
 * Script: what the docs page does in the browser: buttons that copy commands, the log-in, and the start of Swagger UI. All else is there without it. The token stays in
 * the session of the tab.
 */
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

function load(element, attribute, address) {
  return new Promise((resolve, reject) => {
    element.addEventListener('load', resolve)
    element.addEventListener('error', () => reject(new Error('The browser cannot load ' + address + '.')))
    element[attribute] = address
    document.head.append(element)
  })
}

function followColours() {
  const isDark = matchMedia('(prefers-color-scheme: dark)')
  const follow = () => document.documentElement.classList.toggle('dark-mode', isDark.matches)
  isDark.addEventListener('change', follow)
  follow()
}

/** Swagger UI has parts outside of any landmark, a select without a name, and links inside of buttons; it draws more as the reader scrolls. */
function mendSwagger(place) {
  const mend = () => {
    for (const [name, label] of [['information', 'About this API'], ['scheme', 'Server and log-in']]) {
      for (const part of place.querySelectorAll('.' + name + '-container:not([role])')) {
        part.setAttribute('role', 'region')
        part.setAttribute('aria-label', label)
      }
    }
    for (const select of place.querySelectorAll('.servers select:not([aria-label])')) select.setAttribute('aria-label', 'Server')
    for (const link of place.querySelectorAll('button a[href]')) link.removeAttribute('href')
  }
  new MutationObserver(mend).observe(place, { childList: true, subtree: true })
}

async function startSwagger(place) {
  followColours()
  mendSwagger(place)
  const { files, description } = place.dataset
  const sheet = document.createElement('link')
  sheet.rel = 'stylesheet'
  await Promise.all([load(sheet, 'href', files + 'swagger-ui.css'), load(document.createElement('script'), 'src', files + 'swagger-ui-bundle.js')])
  const token = readToken()
  window.SwaggerUIBundle({
    url: description,
    domNode: place,
    deepLinking: true,
    validatorUrl: null,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    requestInterceptor: request => {
      if (token !== undefined && request.headers.Authorization === undefined) request.headers.Authorization = 'Bearer ' + token
      return request
    },
  })
}

/** Shows the page as the holder of a token sees it; false where the token is refused. */
async function showWith(token) {
  const answer = await fetch(location.href, { headers: { authorization: 'Bearer ' + token } })
  if (!answer.ok) return false
  sessionStorage.setItem(KEY, token)
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
  document.title = page.title
  for (const sheet of document.querySelectorAll('link[rel=stylesheet]')) sheet.remove()
  document.head.append(...page.querySelectorAll('link[rel=stylesheet]'))
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
        const answer = await fetch(form.dataset.action, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(given) })
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
  const place = document.querySelector('[data-description]')
  if (place !== null) startSwagger(place).catch(error => { place.textContent = error.message })
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
