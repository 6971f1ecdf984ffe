/** Entities that inherit from each other, in one table and in several, and entities that are views or queries. */
import { defineEntity, p } from '@mikro-orm/sqlite'
import type { SqlEntityManager } from '@mikro-orm/sqlite'

export const Dept = defineEntity({
  name: 'Dept',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    staff: () => p.oneToMany(Employee).mappedBy('dept'),
    head: () => p.oneToOne(Manager).nullable(),
    stat: () => p.oneToOne(DeptStat).mappedBy('dept'),
  },
})
export const Person = defineEntity({
  name: 'Person',
  discriminatorColumn: 'kind',
  discriminatorMap: { person: 'Person', employee: 'Employee', manager: 'Manager', guest: 'Guest' } as never,
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    kind: p.enum(['person', 'employee', 'manager', 'guest']),
    friends: () => p.manyToMany(Person).pivotTable('friends'),
    vehicles: () => p.oneToMany(Vehicle).mappedBy('owner'),
  },
})
export const Employee = defineEntity({
  name: 'Employee',
  extends: Person,
  properties: { salary: p.integer(), dept: () => p.manyToOne(Dept).nullable(), level: p.integer().nullable() },
})
export const Manager = defineEntity({
  name: 'Manager',
  extends: Employee,
  properties: { bonus: p.integer().nullable(), reports: () => p.oneToMany(Report).mappedBy('manager') },
})
export const Guest = defineEntity({ name: 'Guest', extends: Person, properties: { badge: p.string().nullable() } })
export const Report = defineEntity({
  name: 'Report',
  properties: { id: p.integer().primary(), title: p.string(), manager: () => p.manyToOne(Manager) },
})

/** Abstract, and nothing but the table's column tells the class. */
export const Animal = defineEntity({
  name: 'Animal',
  abstract: true,
  discriminatorColumn: 'type',
  properties: { id: p.integer().primary(), name: p.string() },
})
export const Cat = defineEntity({ name: 'Cat', extends: Animal, discriminatorValue: 'cat', properties: { lives: p.integer() } })
export const Dog = defineEntity({ name: 'Dog', extends: Animal, discriminatorValue: 'dog', properties: { tricks: p.integer() } })

export const Vehicle = defineEntity({
  name: 'Vehicle',
  inheritance: 'tpt',
  properties: { id: p.integer().primary(), brand: p.string(), owner: () => p.manyToOne(Person).nullable() },
})
export const Car = defineEntity({
  name: 'Car',
  extends: Vehicle,
  properties: { doors: p.integer(), trips: () => p.oneToMany(Trip).mappedBy('car') },
})
export const Sport = defineEntity({ name: 'Sport', extends: Car, properties: { top: p.integer() } })
export const Truck = defineEntity({ name: 'Truck', extends: Vehicle, properties: { load: p.float() } })
export const Trip = defineEntity({ name: 'Trip', properties: { id: p.integer().primary(), car: () => p.manyToOne(Car) } })

export const DeptStat = defineEntity({
  name: 'DeptStat',
  view: true,
  expression:
    'select dept.id as dept_id, count(person.id) as size, sum(person.salary) as cost ' +
    'from dept left join person on person.dept_id = dept.id group by dept.id',
  properties: { dept: () => p.oneToOne(Dept).primary(), size: p.integer(), cost: p.integer().nullable() },
})
export const Brand = defineEntity({
  name: 'Brand',
  expression: 'select brand, count(*) as count from vehicle group by brand',
  properties: { brand: p.string(), count: p.integer() },
})
export const BrandQuery = defineEntity({
  name: 'BrandQuery',
  expression: (em: SqlEntityManager) => em.createQueryBuilder(Vehicle as never, 'v').select(['v.brand' as never]) as never,
  properties: { brand: p.string() },
})

export const entities = [
  Dept,
  Person,
  Employee,
  Manager,
  Guest,
  Report,
  Animal,
  Cat,
  Dog,
  Vehicle,
  Car,
  Sport,
  Truck,
  Trip,
  DeptStat,
  Brand,
  BrandQuery,
]
