/** Makes the attribute of a plain property, with type, place (column, JSON, formula) and rendering. */
import { isRaw, type EntityMetadata, type EntityProperty } from '@mikro-orm/core'
import type { Renderer, ScalarAttribute, Source } from '../model.ts'
import { getterRender, serializerRender } from './getters.ts'
import { isGetter, scalarType } from './property-type.ts'
import { isRequiredInside, readCommon, type PropertyContext, compileFormula } from './read-common.ts'

export function readScalarAttribute(context: PropertyContext): ScalarAttribute {
  const { meta, prop, declared, document } = context
  if (isGetter(prop)) return readGetter(context, getterRender(meta, prop))
  const type = Object.freeze(scalarType(prop)!)
  const common = readCommon(context)
  const required = document === undefined ? common.required : isRequiredInside(declared)
  return {
    kind: 'scalar',
    ...common,
    required,
    needed: required,
    type,
    source: readSource(context),
    primary: prop.primary === true,
    version: prop.version === true,
    ...(prop.lazy === true ? { lazy: true } : {}),
    // Rendered values are filtered and sorted only on request.
    ...(prop.serializer === undefined ? {} : { render: serializerRender(meta, prop, type), filterable: false, sortable: false }),
  }
}

export function readGetter(context: PropertyContext, render: Renderer): ScalarAttribute {
  return {
    kind: 'scalar',
    ...readCommon(context),
    nullable: true,
    readOnly: true,
    required: false,
    filterable: false,
    sortable: false,
    type: Object.freeze({ kind: 'json' }),
    source: { kind: 'getter' },
    primary: false,
    version: false,
    render,
  }
}

/** An embedded object without columns, for code of the model. */
export function readUnstored(context: PropertyContext): ScalarAttribute {
  const type = Object.freeze({ kind: 'json' } as const)
  return Object.freeze({
    kind: 'scalar',
    ...readCommon(context),
    type,
    source: { kind: 'none' },
    primary: false,
    version: false,
  } as const)
}

function readSource({ meta, prop, document }: PropertyContext): Source {
  if (document !== undefined) return { kind: 'document', ...document }
  if (prop.formula !== undefined) return { kind: 'formula', sql: compileFormula(meta, prop) }
  if (prop.persist === false) return { kind: 'none' }
  return {
    kind: 'column',
    column: prop.fieldNames[0]!,
    rawDefault: isRaw(prop.default) || (prop.default === undefined && prop.defaultRaw !== undefined),
    generated: prop.generated !== undefined,
  }
}

/** Whether the class sets a value (`createdAt = new Date()`). As defaults, MikroORM reads only constants. */
export function isInitialised(meta: EntityMetadata, prop: EntityProperty): boolean {
  try {
    const entity = new (meta.class as new () => Record<string, unknown>)()
    return (entity[prop.name] ?? undefined) !== undefined
  } catch {
    // The constructor needs arguments.
    return false
  }
}
