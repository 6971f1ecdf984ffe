/** An entity by defineEntity. */
import { defineEntity, p } from '@mikro-orm/core'
import type { InferEntity } from '@mikro-orm/core'

export const Tag = defineEntity({ name: 'Tag', properties: { id: p.integer().primary(), label: p.string() } })
export type Tag = InferEntity<typeof Tag>
