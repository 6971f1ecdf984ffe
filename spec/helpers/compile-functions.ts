/** Compiles MikroORM's functions of entities as `npx mikro-orm compile` does, whose package the specs do not install. */
import { Configuration, EntityComparator, MetadataDiscovery, MetadataStorage, ObjectHydrator, Utils } from '@mikro-orm/core'
import { SqliteDriver, type Options } from '@mikro-orm/sqlite'

/** Returns the text of a module. */
export async function compileFunctions(entities: NonNullable<Options['entities']>): Promise<string> {
  const config = new Configuration({ driver: SqliteDriver, dbName: ':memory:', entities })
  const platform = config.getDriver().getPlatform()
  const metadata = await new MetadataDiscovery(new MetadataStorage(), platform, config).discover(false)
  const [hydrator, comparator] = [new ObjectHydrator(metadata, platform, config), new EntityComparator(metadata, platform, config)]
  const makers: string[] = []
  const { createFunction } = Utils
  Utils.createFunction = (context, code, _, key) => {
    makers.push(`${JSON.stringify(key)}: function(${[...context.keys()].join(', ')}) { ${code} }`)
    return createFunction.call(Utils, context, code)
  }
  try {
    for (const meta of metadata) {
      for (const normalizes of [false, true]) {
        hydrator.getEntityHydrator(meta, 'full', normalizes)
        if (!meta.embeddable && meta.virtual !== true) hydrator.getEntityHydrator(meta, 'reference', normalizes)
      }
      comparator.getEntityComparator(meta.class)
      comparator.getSnapshotGenerator(meta.class)
      comparator.getResultMapper(meta)
      if (meta.primaryKeys.length === 0) continue
      comparator.getPkGetter(meta)
      comparator.getPkGetterConverted(meta)
      comparator.getPkSerializer(meta)
    }
  } finally {
    Utils.createFunction = createFunction
  }
  return `export default { __version: ${JSON.stringify(Utils.getORMVersion())}, ${makers.join(',\n')} }\n`
}
