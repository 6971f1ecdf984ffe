/** Seeders as the application has them: one that calls others, and a factory. */
import type { Constructor, EntityData, EntityManager } from '@mikro-orm/core'
import { Factory, Seeder } from '@mikro-orm/seeder'
import { Author } from '../entities/author.ts'
import { Book } from '../entities/book.ts'

class BookFactory extends Factory<Book> {
  readonly model = Book as Constructor<Book>

  protected definition(): EntityData<Book> {
    return { title: 'Untitled' }
  }
}

export class AuthorSeeder extends Seeder {
  async run(em: EntityManager): Promise<void> {
    const ann = em.create(Author, { fullName: 'Ann' })
    new BookFactory(em).each(book => (book.author = ann)).make(3)
  }
}

export class DatabaseSeeder extends Seeder {
  async run(em: EntityManager): Promise<void> {
    em.create(Author, { fullName: 'Bob' })
    await em.flush()
    await this.call(em, [AuthorSeeder])
  }
}

/** Fails behind what it has written. */
export class BrokenSeeder extends Seeder {
  async run(em: EntityManager): Promise<void> {
    await this.call(em, [AuthorSeeder])
    throw new Error('the seeder is broken')
  }
}
