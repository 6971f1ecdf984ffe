/** What specs take of `@mikro-orm/sqlite`, in a page: a test with a MikroORM of its own is left out, since the driver is for Node. */
import { LeftOut } from './test.ts'

export * from '@mikro-orm/sql'

const missing = (): never => {
  throw new LeftOut("MikroORM's driver is for Node")
}

export class MikroORM {
  static readonly init = missing

  constructor() {
    missing()
  }
}
export { missing as defineConfig }
