/** User environment: the environment of a command that a user would start in a folder of his own. */
import { delimiter, dirname } from 'node:path'

/** Settings that say how the registry is reached. An npm around the specs sets others, of its own folder and command. */
const NETWORK =
  /^(?:NODE_EXTRA_CA_CERTS|npm_config_(?:registry|cache|userconfig|globalconfig|cafile|fetch_\w+|https?_proxy|proxy|noproxy|offline))$/

/** Has this Node first on the PATH. */
export function userEnvironment(): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(
    ([name]) => NETWORK.test(name) || !/^(?:npm_|INIT_CWD$|NODE_(?!COMPILE_CACHE$))/.test(name),
  )
  return { ...Object.fromEntries(inherited), PATH: dirname(process.execPath) + delimiter + process.env['PATH'] }
}
