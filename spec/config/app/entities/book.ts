/** An entity with a custom type, by decorators. */
import { Type } from '@mikro-orm/core'
import type { Rel } from '@mikro-orm/core'
import { Entity, ManyToOne, PrimaryKey, Property } from '@mikro-orm/decorators/es'
import { Author } from './author.ts'

/** Stores a text in capitals. */
class Capitals extends Type<string, string> {
  override convertToDatabaseValue(value: string): string {
    return value.toUpperCase()
  }

  override convertToJSValue(value: string): string {
    return value.toLowerCase()
  }

  override getColumnType(): string {
    return 'text'
  }
}

@Entity()
export class Book {
  @PrimaryKey({ type: 'integer' })
  id!: number

  @Property({ type: 'string' })
  title!: string

  @Property({ type: Capitals, default: 'EN' })
  language?: string

  @ManyToOne(() => Author)
  author!: Rel<Author>
}
