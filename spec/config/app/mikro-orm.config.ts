/** The config of an application: its entities by patterns, its seeders and migrations by folders. */
import { fileURLToPath } from 'node:url'
import { defineConfig } from '@mikro-orm/sqlite'

/** Which subscribers of the application have heard of. */
export const heard: string[] = []

export default defineConfig({
  baseDir: fileURLToPath(new URL('.', import.meta.url)),
  dbName: ':memory:',
  preferTs: true,
  entities: ['dist/entities/*.js'],
  entitiesTs: ['entities/*.ts'],
  migrations: { path: 'dist/migrations', pathTs: 'migrations', glob: '*.ts' },
  seeder: { path: 'dist/seeders', pathTs: 'seeders', glob: '*.ts' },
  subscribers: [
    {
      afterCreate: ({ meta }) => {
        heard.push(meta.className)
      },
    },
  ],
  persistOnCreate: true,
})
