/**
 * Makes readable texts by an attribute's name, with `@faker-js/faker`, an optional peer dependency. Uses an English instance of its own:
 * the caller's keeps its seed.
 */
import type { Faker } from '@faker-js/faker'
import type { Random } from './random.ts'

/** Takes the words of names in lower case. Undefined: the name says nothing. */
export type Readable = (words: readonly string[], resource: readonly string[], random: Random) => string | undefined

let loading: Promise<Readable | undefined> | undefined

/** Undefined: faker is missing, or older than version 10, with other names. */
export function loadReadable(): Promise<Readable | undefined> {
  return (loading ??= load())
}

async function load(): Promise<Readable | undefined> {
  let module: { readonly faker: Faker }
  try {
    module = await import('@faker-js/faker/locale/en')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    // A broken faker is an error. Jest says MODULE_NOT_FOUND.
    if ((code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND') && message.includes('@faker-js/faker')) return undefined
    throw error
  }
  const { book, internet } = module.faker as Partial<Faker>
  if (book?.title === undefined || internet?.username === undefined) return undefined
  const FakerClass = module.faker.constructor as new (options: object) => Faker
  let random: Random
  const faker = new FakerClass({ locale: module.faker.rawDefinitions, randomizer: { next: () => random.fraction(), seed: () => {} } })
  return (words, resource, stream) => {
    const topic = findTopic(words, resource)
    if (topic === undefined) return undefined
    random = stream
    return TOPICS[topic](faker)
  }
}

function title(text: string): string {
  return text.replaceAll(/(^|[ -])[a-z]/g, letter => letter.toUpperCase())
}

/** Domains are reserved (RFC 2606). */
const TOPICS = {
  email: faker => faker.internet.exampleEmail(),
  firstName: faker => faker.person.firstName(),
  lastName: faker => faker.person.lastName(),
  fullName: faker => `${faker.person.firstName()} ${faker.person.lastName()}`,
  username: faker => faker.internet.username(),
  company: faker => faker.company.name(),
  product: faker => faker.commerce.productName(),
  book: faker => faker.book.title(),
  phrase: faker => title(`${faker.word.adjective()} ${faker.word.noun()}`),
  sentence: faker => faker.lorem.sentence(),
  phone: faker => faker.phone.number({ style: 'international' }),
  url: faker => `https://${faker.lorem.slug(2)}.example.com`,
  host: faker => `${faker.lorem.slug(2)}.example.com`,
  slug: faker => faker.lorem.slug(2),
  street: faker => faker.location.streetAddress(),
  city: faker => faker.location.city(),
  province: faker => faker.location.state(),
  zip: faker => faker.location.zipCode(),
  country: faker => faker.location.country(),
  countryCode: faker => faker.location.countryCode(),
  currency: faker => faker.finance.currencyCode(),
  colour: faker => faker.color.human(),
  job: faker => faker.person.jobTitle(),
  isbn: faker => faker.commerce.isbn({ separator: '' }),
  ip: faker => faker.internet.ipv4(),
} satisfies Record<string, (faker: Faker) => string>

type Topic = keyof typeof TOPICS

const BY_NAME: Readonly<Record<string, Topic>> = {
  email: 'email',
  mail: 'email',
  'first name': 'firstName',
  forename: 'firstName',
  firstname: 'firstName',
  'last name': 'lastName',
  lastname: 'lastName',
  surname: 'lastName',
  'family name': 'lastName',
  'full name': 'fullName',
  fullname: 'fullName',
  'user name': 'username',
  username: 'username',
  nickname: 'username',
  login: 'username',
  company: 'company',
  organisation: 'company',
  organization: 'company',
  employer: 'company',
  title: 'phrase',
  label: 'phrase',
  subject: 'phrase',
  description: 'sentence',
  summary: 'sentence',
  text: 'sentence',
  content: 'sentence',
  body: 'sentence',
  comment: 'sentence',
  message: 'sentence',
  note: 'sentence',
  notes: 'sentence',
  bio: 'sentence',
  phone: 'phone',
  mobile: 'phone',
  telephone: 'phone',
  'phone number': 'phone',
  fax: 'phone',
  url: 'url',
  website: 'url',
  homepage: 'url',
  host: 'host',
  hostname: 'host',
  domain: 'host',
  slug: 'slug',
  street: 'street',
  address: 'street',
  city: 'city',
  town: 'city',
  province: 'province',
  zip: 'zip',
  'zip code': 'zip',
  postcode: 'zip',
  'postal code': 'zip',
  country: 'country',
  'country code': 'countryCode',
  currency: 'currency',
  color: 'colour',
  colour: 'colour',
  job: 'job',
  profession: 'job',
  isbn: 'isbn',
  ip: 'ip',
  'ip address': 'ip',
}

/** For `name` and `title`. */
const NAMED: Readonly<Record<string, Topic>> = {
  user: 'fullName',
  person: 'fullName',
  customer: 'fullName',
  client: 'fullName',
  author: 'fullName',
  member: 'fullName',
  employee: 'fullName',
  contact: 'fullName',
  student: 'fullName',
  teacher: 'fullName',
  patient: 'fullName',
  company: 'company',
  organisation: 'company',
  organization: 'company',
  publisher: 'company',
  vendor: 'company',
  supplier: 'company',
  product: 'product',
  article: 'product',
  item: 'product',
  book: 'book',
  city: 'city',
  country: 'country',
}

function findTopic(words: readonly string[], resource: readonly string[]): Topic | undefined {
  const last = words.at(-1) ?? ''
  const lastTwo = words.slice(-2).join(' ')
  if (Object.hasOwn(BY_NAME, lastTwo) && words.length > 1) return BY_NAME[lastTwo]
  const bearer = resource.at(-1) ?? ''
  if ((last === 'name' || last === 'title') && words.length === 1 && Object.hasOwn(NAMED, bearer)) return NAMED[bearer]
  // `city_name` is a city's name.
  if (last === 'name' && words.length > 1 && Object.hasOwn(NAMED, words.at(-2)!)) return NAMED[words.at(-2)!]
  if (last === 'name') return 'phrase'
  return Object.hasOwn(BY_NAME, last) ? BY_NAME[last] : undefined
}
