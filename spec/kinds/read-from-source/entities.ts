/** Entities whose decorators say no types: a provider reads them from this source. */
import { Collection, type Opt } from '@mikro-orm/core'
import { Embeddable, Embedded, Entity, Enum, ManyToMany, ManyToOne, OneToMany, PrimaryKey, Property } from '@mikro-orm/decorators/es'

const Kind = { Essay: 0, Novel: 1 } as const
type Kind = (typeof Kind)[keyof typeof Kind]
const Colour = { Red: 'red', Blue: 'blue' } as const
type Colour = (typeof Colour)[keyof typeof Colour]

@Embeddable()
export class Address {
  @Property()
  street!: string

  @Property()
  zip?: number
}

@Entity()
export class Author {
  @PrimaryKey()
  id!: number

  @Property()
  name!: string

  @Property()
  age?: number

  @Property()
  big!: bigint

  @Property()
  born?: Date

  @Property()
  active: boolean & Opt = true

  @Property()
  nicknames: string[] = []

  @Property()
  size!: 'small' | 'large'

  @Enum({ items: () => Kind })
  kind!: Kind

  @Enum({ items: () => Colour })
  colour!: Colour

  @Enum({ items: () => Colour, array: true })
  colours?: Colour[]

  @Property({ type: 'json' })
  extra?: { level: number }

  @Embedded(() => Address)
  address!: Address

  @ManyToOne(() => Author)
  friend?: Author

  @OneToMany(() => Book, 'author')
  books: Collection<Book> = new Collection<Book>(this)
}

@Entity()
export class Book {
  @PrimaryKey()
  id!: string

  @Property()
  title!: string

  @ManyToOne(() => Author)
  author!: Author

  @ManyToMany(() => Author)
  readers: Collection<Author> = new Collection<Author>(this)
}
