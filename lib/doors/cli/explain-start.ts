/** Explain start: says to errors of the start of an engine what the command line can do about them. */
import { CommandError, oneLine } from './command-error.ts'
import type { CommandArguments } from './arguments.ts'
import { isModule } from './modules.ts'

/** Returns the error to throw. */
export function explainStart(error: unknown, { file, config }: CommandArguments): unknown {
  if (!(error instanceof Error)) return error
  const model = config ?? file
  if (model === undefined || !isModule(model)) return error
  // MikroORM names the option of the compiler where a decorator says no type.
  if (error.message.includes('emitDecoratorMetadata') && /ts$/i.test(model))
    return new CommandError(
      `${oneLine(error)} The loader of TypeScript that was found here (tsx) does not write these types: install @swc-node/register with @swc/core, or ts-node, in the project ("type": "module": @oxc-node/core), or name the compiled config, such as dist/mikro-orm.config.js.`,
    )
  if (file === model && /^The \w+ database .* cannot be opened: /.test(error.message))
    return new CommandError(`${oneLine(error)} To serve the model in memory: mikro-rest :memory: --config ${model}`)
  return error
}
