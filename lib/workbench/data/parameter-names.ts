/** The application's names of parameters. */
import { parameterOf } from '../state/outline.ts'
import type { ParameterNames } from './list-query.ts'

export function parameterNames(): ParameterNames {
  return {
    limit: parameterOf('limit'),
    offset: parameterOf('offset'),
    sort: parameterOf('sort'),
    depth: parameterOf('depth'),
    attributes: parameterOf('attributes'),
    expand: parameterOf('expand'),
  }
}
