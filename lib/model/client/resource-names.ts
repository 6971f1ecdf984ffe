/** Resource names for the compiler, so that `BlogPost` allows `/v1/blog_posts`. A word with maybe an irregular plural allows any text. */

/**
 * Plural and singular, in snake_case, kebab-case and camelCase. Any text, if the compiler cannot know the plural.
 *
 * @example const engine: RestEngine<ResourceNames<typeof User | typeof Post>> = await RestEngine.create({ entities: [User, Post] })
 */
export type ResourceNames<Entity> = [Entity] extends [infer Each]
  ? // Inferring `Each` makes error messages list names instead of this type.
    Each extends { readonly name: infer Name extends string; readonly '~entity': unknown }
    ? string extends Name
      ? string
      : Spelled<Name>
    : string
  : never

export type NamedBy<Name extends string, Value> = string extends Name
  ? Readonly<Record<string, Value>>
  : { readonly [name in Name]?: Value }

/** Any text, with suggestions in editors. */
type AnyText = string & Record<never, never>

export type PathText<Name extends string> = `/v1/${Name}` | AnyText

/** Any case. Editors suggest known methods. */
export type MethodText = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD' | 'OPTIONS' | 'QUERY' | AnyText

type Letter = Lower | Uppercase<Lower>
// prettier-ignore
type Lower = 'a' | 'b' | 'c' | 'd' | 'e' | 'f' | 'g' | 'h' | 'i' | 'j' | 'k' | 'l' | 'm'
  | 'n' | 'o' | 'p' | 'q' | 'r' | 's' | 't' | 'u' | 'v' | 'w' | 'x' | 'y' | 'z'

/** Splits PascalCase. Other forms allow any text. */
type Spelled<
  Name extends string,
  Word extends string = '',
  Snake extends string = '',
  Kebab extends string = '',
  Camel extends string = '',
> = Name extends `${infer First}${infer Rest}`
  ? First extends Lower
    ? Spelled<Rest, `${Word}${First}`, Snake, Kebab, Camel>
    : First extends Letter
      ? Word extends ''
        ? Spelled<Rest, Lowercase<First>, Snake, Kebab, Camel>
        : Word extends Lower
          ? string
          : Spelled<Rest, Lowercase<First>, `${Snake}${Word}_`, `${Kebab}${Word}-`, `${Camel}${InCamel<Word, Camel>}`>
      : string
  : Word extends '' | Lower
    ? string
    : Forms<Word | Plural<Word>, Snake, Kebab, Camel>

type Forms<Word extends string, Snake extends string, Kebab extends string, Camel extends string> = string extends Word
  ? string
  : `${Snake}${Word}` | `${Kebab}${Word}` | `${Camel}${InCamel<Word, Camel>}`

type InCamel<Word extends string, Camel extends string> = Camel extends '' ? Word : Capitalize<Word>

type Vowel = 'a' | 'e' | 'i' | 'o' | 'u'

/** Any text for a possible exception. */
type Plural<Word extends string> = Word extends Exception
  ? string
  : Word extends `${string}${Vowel}y`
    ? `${Word}s`
    : Word extends `${infer Stem}y`
      ? `${Stem}ies`
      : `${Word}s`

// prettier-ignore
type Exception =
  // Endings with irregular plurals.
  | `${string}${'s' | 'x' | 'z' | 'ch' | 'sh' | 'f' | 'fe' | 'o' | 'u' | 'i' | 'a' | 'ae' | 'um' | 'on' | 'im' | 'man' | 'men' | 'ese'
      | 'ley' | 'ney' | 'oey' | 'quy' | 'by' | 'mice' | 'lice' | 'mouse' | 'louse' | 'goose' | 'moose' | 'deer' | 'fish' | 'sheep'
      | 'eaux'}`
  | `${string}${'person' | 'people' | 'child' | 'children' | 'foot' | 'feet' | 'tooth' | 'teeth' | 'geese' | 'ox' | 'oxen' | 'die'
      | 'dice'}`
  // Words with an irregular plural, or none.
  | 'advice' | 'adulthood' | 'agenda' | 'aid' | 'aircraft' | 'alcohol' | 'ammo' | 'analytics' | 'anime' | 'blood' | 'bream' | 'butter'
  | 'carp' | 'cash' | 'clothing' | 'cod' | 'commerce' | 'digestion' | 'elk' | 'energy' | 'equipment' | 'expertise' | 'firmware' | 'flounder'
  | 'fun' | 'garbage' | 'hardware' | 'health' | 'homework' | 'housework' | 'labour' | 'literature' | 'machinery' | 'mackerel' | 'mail'
  | 'music' | 'mud' | 'only' | 'personnel' | 'pike' | 'rice' | 'police' | 'justice' | 'rain' | 'research' | 'sewage' | 'shrimp' | 'software'
  | 'staff' | 'swine' | 'traffic' | 'trout' | 'wealth' | 'welfare' | 'whiting' | 'wildebeest' | 'wildlife' | 'are' | 'were' | 'have'
  | 'these' | 'those' | 'he' | 'she' | 'me' | 'we' | 'it' | 'they' | 'them' | 'this' | 'that' | 'thou' | 'you' | 'myself' | 'yourself'
  | 'itself' | 'herself' | 'himself' | 'themself' | 'ourselves'
