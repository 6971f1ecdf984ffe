/** The base class of the classes that describe parts of a document. */
import type { Visibility } from '../../records/plan/visibility.ts'
import type { Components } from './components.ts'
import type { ApiSource, DescribeOptions } from './source.ts'

export interface DocumentParts {
  readonly source: ApiSource
  readonly options: DescribeOptions
  readonly visibility: Visibility
  readonly components: Components
}

export class Describer implements DocumentParts {
  readonly source: ApiSource
  readonly options: DescribeOptions
  readonly visibility: Visibility
  readonly components: Components

  constructor({ source, options, visibility, components }: DocumentParts) {
    this.source = source
    this.options = options
    this.visibility = visibility
    this.components = components
  }
}
