/** The bundler writes such a file beside the scripts, and gives the name. */
declare module '*.wasm' {
  const name: string
  export default name
}
