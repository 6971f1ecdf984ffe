/** The second migration brings rows. */
import { Migration } from '@mikro-orm/migrations'

export class Migration20260102000000 extends Migration {
  override async up(): Promise<void> {
    this.addSql(`insert into "tag" ("label") values ('old')`)
  }
}
