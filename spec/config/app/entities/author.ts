/** An entity of the application, by decorators. */
import { Collection } from '@mikro-orm/core'
import { Entity, Filter, ManyToMany, OneToMany, PrimaryKey, Property } from '@mikro-orm/decorators/es'
import { Book } from './book.ts'
import { Tag } from './tag.ts'

@Entity()
@Filter({ name: 'present', cond: { removedAt: null }, default: true })
export class Author {
  @PrimaryKey({ type: 'integer' })
  id!: number

  @Property({ type: 'string' })
  fullName!: string

  @Property({ type: 'datetime', nullable: true, hidden: true })
  removedAt?: Date

  @OneToMany(() => Book, book => book.author)
  books = new Collection<Book>(this)

  @ManyToMany(() => Tag)
  tags = new Collection<Tag>(this)
}
