/** Schemas as the usual tools write them: Prisma, Rails, Django, Supabase, and the sample databases that everybody has. Each with rows. */

export interface PublicSchema {
  readonly name: string
  readonly sql: string
}

const PRISMA: PublicSchema = {
  name: 'Prisma',
  sql: `
create type "Role" as enum ('USER', 'ADMIN');
create type "PostStatus" as enum ('DRAFT', 'Published', 'with space');
create table "User" (
  "id" serial not null,
  "email" text not null,
  "name" text,
  "role" "Role" not null default 'USER',
  "roles" "Role"[] default array['USER']::"Role"[],
  "createdAt" timestamp(3) not null default current_timestamp,
  "updatedAt" timestamp(3) not null,
  constraint "User_pkey" primary key ("id")
);
create table "Post" (
  "id" text not null,
  "title" text not null,
  "slug" varchar(191) not null,
  "status" "PostStatus" not null default 'DRAFT',
  "published" boolean not null default false,
  "authorId" integer not null,
  "reviewerId" integer,
  "meta" jsonb default '{}',
  "price" decimal(65,30) not null default 0,
  "balance" numeric(10,2) not null default -1,
  "rate" double precision not null default -0.5,
  "views" bigint not null default 0,
  constraint "Post_pkey" primary key ("id")
);
create table "_PostToTag" ("A" text not null, "B" integer not null);
create table "Tag" ("id" serial not null, "label" text not null, constraint "Tag_pkey" primary key ("id"));
create table "Profile" ("userId" integer not null, "bio" text, constraint "Profile_pkey" primary key ("userId"));
create unique index "User_email_key" on "User"("email");
create unique index "Post_authorId_slug_key" on "Post"("authorId", "slug");
create index "Post_status_idx" on "Post"("status");
create unique index "_PostToTag_AB_unique" on "_PostToTag"("A", "B");
create index "_PostToTag_B_index" on "_PostToTag"("B");
alter table "Post" add constraint "Post_authorId_fkey" foreign key ("authorId") references "User"("id") on delete restrict on update cascade;
alter table "Post" add constraint "Post_reviewerId_fkey" foreign key ("reviewerId") references "User"("id") on delete set null on update cascade;
alter table "Profile" add constraint "Profile_userId_fkey" foreign key ("userId") references "User"("id") on delete cascade on update cascade;
alter table "_PostToTag" add constraint "_PostToTag_A_fkey" foreign key ("A") references "Post"("id") on delete cascade on update cascade;
alter table "_PostToTag" add constraint "_PostToTag_B_fkey" foreign key ("B") references "Tag"("id") on delete cascade on update cascade;
insert into "User" ("email", "updatedAt") values ('ann@example.com', '2026-01-02 03:04:05.678'), ('bob@example.com', '2026-01-02');
insert into "Post" ("id", "title", "slug", "authorId", "reviewerId") values ('ckx1', 'One', 'one', 1, 2), ('ckx2', 'Two', 'two', 1, null);
insert into "Tag" ("label") values ('x'); insert into "_PostToTag" values ('ckx1', 1); insert into "Profile" values (1, 'Hi');`,
}

const RAILS: PublicSchema = {
  name: 'Rails',
  sql: `
create table schema_migrations (version character varying not null primary key);
create table ar_internal_metadata (key character varying not null primary key, value character varying, created_at timestamp(6) without time zone not null, updated_at timestamp(6) without time zone not null);
create table users (
  id bigserial primary key,
  email character varying default ''::character varying not null,
  encrypted_password character varying default ''::character varying not null,
  sign_in_count integer default 0 not null,
  admin boolean default false,
  settings jsonb default '{}'::jsonb not null,
  last_sign_in_ip inet,
  status integer default -1 not null,
  created_at timestamp(6) without time zone not null,
  updated_at timestamp(6) without time zone not null
);
create table articles (
  id bigserial primary key, title character varying(100), body text, user_id bigint not null, editor_id bigint, slug character varying,
  position integer, price numeric(8,2) default 0.0, published_on date, tags character varying[] default '{}'::character varying[],
  commentable_type character varying, commentable_id bigint,
  created_at timestamp(6) without time zone default current_timestamp not null, updated_at timestamp(6) without time zone not null
);
create table articles_categories (article_id bigint not null, category_id bigint not null);
create table categories (id bigserial primary key, name character varying not null, parent_id bigint, lft integer, constraint name_length check (char_length((name)::text) > 1));
create unique index index_users_on_email on users using btree (email);
create unique index index_articles_on_slug on articles using btree (slug) where slug is not null;
create index index_articles_on_user_id on articles using btree (user_id);
create index index_articles_on_lower on articles (lower(title));
create unique index index_articles_categories on articles_categories (article_id, category_id);
create index index_articles_on_commentable on articles (commentable_type, commentable_id);
alter table only articles add constraint fk_rails_1 foreign key (user_id) references users(id);
alter table only articles add constraint fk_rails_2 foreign key (editor_id) references users(id) on delete set null;
alter table only categories add constraint fk_rails_3 foreign key (parent_id) references categories(id) on delete cascade;
insert into users (email, created_at, updated_at, last_sign_in_ip) values ('a@b.c', '2026-01-02 03:04:05.678901', now(), '10.0.0.1');
insert into articles (title, user_id, slug, updated_at) values ('One', 1, 'one', now()), (null, 1, null, now());
insert into categories (name) values ('News'); insert into articles_categories values (1, 1);
insert into schema_migrations values ('20260101000000');`,
}

const DJANGO: PublicSchema = {
  name: 'Django',
  sql: `
create table django_content_type (id integer not null primary key generated by default as identity, app_label varchar(100) not null, model varchar(100) not null);
create table auth_permission (id integer not null primary key generated by default as identity, name varchar(255) not null,
  content_type_id integer not null, codename varchar(100) not null);
create table auth_user (id integer not null primary key generated by default as identity, password varchar(128) not null,
  last_login timestamp with time zone null, is_superuser boolean not null, username varchar(150) not null unique,
  email varchar(254) not null, date_joined timestamp with time zone not null);
create table auth_user_user_permissions (id bigint not null primary key generated by default as identity, user_id integer not null, permission_id integer not null);
create table polls_choice (id bigint not null primary key generated always as identity, choice_text varchar(200) not null,
  votes integer not null check (votes >= 0), ratio double precision null, data jsonb null, token uuid not null unique, spent interval null);
alter table django_content_type add constraint django_content_type_app_label_model_76bd3d3b_uniq unique (app_label, model);
alter table auth_permission add constraint auth_permission_content_type_id_2f476e4b_fk_django_co foreign key (content_type_id) references django_content_type (id) deferrable initially deferred;
alter table auth_permission add constraint auth_permission_content_type_id_codename_01ab375a_uniq unique (content_type_id, codename);
alter table auth_user_user_permissions add constraint auth_user_user_permissions_user_id_a95ead1b_fk foreign key (user_id) references auth_user (id) deferrable initially deferred;
alter table auth_user_user_permissions add constraint auth_user_user_permissions_permission_id_1fbb5f2c_fk foreign key (permission_id) references auth_permission (id) deferrable initially deferred;
alter table auth_user_user_permissions add constraint auth_user_user_permissions_uniq unique (user_id, permission_id);
create index auth_user_username_6821ab7c_like on auth_user (username varchar_pattern_ops);
create index auth_permission_content_type_id_2f476e4b on auth_permission (content_type_id);
insert into django_content_type (id, app_label, model) values (7, 'auth', 'user'), (9, 'polls', 'choice');
insert into auth_permission (name, content_type_id, codename) values ('Can add', 7, 'add_user');
insert into auth_user (password, is_superuser, username, email, date_joined) values ('x', true, 'root', '', '2026-01-02 03:04:05.678901+00');
insert into auth_user_user_permissions (user_id, permission_id) values (1, 1);
insert into polls_choice (choice_text, votes, token) values ('One', 3, '00112233-4455-6677-8899-aabbccddeeff');`,
}

const SUPABASE: PublicSchema = {
  name: 'Supabase',
  sql: `
create type app_role as enum ('admin', 'moderator');
create domain email_address as text check (value ~ '@');
create table profiles (
  id uuid primary key default gen_random_uuid(), updated_at timestamp with time zone default timezone('utc'::text, now()) not null,
  username text unique, full_name text, email email_address, website text default 'https://example.com/?q=''x''',
  constraint username_length check (char_length(username) >= 3)
);
create table channels (
  id bigint generated by default as identity primary key, inserted_at timestamp with time zone default timezone('utc'::text, now()) not null,
  slug text not null unique, created_by uuid not null references profiles
);
create table messages (
  id bigint generated always as identity primary key, message text, user_id uuid references profiles not null,
  channel_id bigint references channels on delete cascade not null, search tsvector generated always as (to_tsvector('english', coalesce(message, ''))) stored,
  words int generated always as (length(message)) stored, state text not null default 'new' check (state in ('new', 'seen', 'It''s "odd"')),
  level smallint default 1 check (level in (1, 2, 3)), embedding float4[], seen timestamptz(0), cents money default 0, span int4range, bits bit(3), chars char(3), area point
);
create table role_permissions (id bigint generated by default as identity primary key, role app_role not null, permission varchar(20) not null, unique (role, permission));
comment on table role_permissions is 'Application permissions for each role.';
comment on column role_permissions.role is 'Which one.';
create view recent as select id, message from messages;
create function handle() returns trigger language plpgsql as $$ begin return new; end $$;
create trigger on_message before insert on messages for each row execute procedure handle();
alter table profiles enable row level security;
create policy "Public profiles are viewable by everyone." on profiles for select using (true);
insert into profiles (id, username) values ('00112233-4455-6677-8899-aabbccddeeff', 'ann');
insert into channels (id, slug, created_by) values (5, 'public', '00112233-4455-6677-8899-aabbccddeeff');
insert into messages (message, user_id, channel_id, seen) values ('Hello', '00112233-4455-6677-8899-aabbccddeeff', 5, now());
insert into role_permissions (role, permission) values ('admin', 'channels.delete');`,
}

const PAGILA: PublicSchema = {
  name: 'Pagila',
  sql: `
create type mpaa_rating as enum ('G', 'PG', 'PG-13', 'R', 'NC-17');
create domain year as integer constraint year_check check (((value >= 1901) and (value <= 2155)));
create domain bıgint as bigint;
create sequence customer_customer_id_seq start with 1 increment by 1 no minvalue no maxvalue cache 1;
create table language (language_id serial primary key, name character(20) not null, last_update timestamp with time zone default now() not null);
create table customer (customer_id integer default nextval('customer_customer_id_seq'::regclass) not null, store_id integer not null,
  first_name text not null, email text, activebool boolean default true not null, create_date date default current_date not null,
  last_update timestamp with time zone default now(), active integer, constraint customer_pkey primary key (customer_id));
create table film (film_id serial primary key, title text not null, description text, release_year year, language_id integer not null,
  original_language_id integer, rental_duration smallint default 3 not null, rental_rate numeric(4,2) default 4.99 not null, length smallint,
  replacement_cost numeric(5,2) default 19.99 not null, rating mpaa_rating default 'G'::mpaa_rating, last_update timestamp with time zone default now() not null,
  special_features text[], fulltext tsvector not null default ''::tsvector);
create table actor (actor_id serial primary key, first_name text not null, last_name text not null);
create table film_actor (actor_id integer not null, film_id integer not null, last_update timestamp with time zone default now() not null,
  constraint film_actor_pkey primary key (actor_id, film_id));
create table payment (payment_id serial, customer_id integer not null, amount numeric(5,2) not null, payment_date timestamp with time zone not null,
  primary key (payment_date, payment_id)) partition by range (payment_date);
create table payment_p2026_01 partition of payment for values from ('2026-01-01 00:00:00+00:00') to ('2026-02-01 00:00:00+00:00');
create index film_fulltext_idx on film using gist (fulltext);
create index idx_last_name on actor using btree (last_name);
create unique index idx_unq_title on film (title, language_id);
alter table film add constraint film_language_id_fkey foreign key (language_id) references language(language_id) on update cascade on delete restrict;
alter table film add constraint film_original_language_id_fkey foreign key (original_language_id) references language(language_id) on update cascade on delete restrict;
alter table film_actor add constraint film_actor_actor_id_fkey foreign key (actor_id) references actor(actor_id) on update cascade on delete restrict;
alter table film_actor add constraint film_actor_film_id_fkey foreign key (film_id) references film(film_id) on update cascade on delete restrict;
alter table payment add constraint payment_customer_id_fkey foreign key (customer_id) references customer(customer_id);
create view film_list as select f.film_id as fid, f.title, l.name as language from film f join language l using (language_id);
create materialized view rental_by_category as select title as category, rental_rate as total_sales from film;
create function last_updated() returns trigger language plpgsql as $$ begin new.last_update = current_timestamp; return new; end $$;
create trigger last_updated before update on film for each row execute procedure last_updated();
insert into language (name) values ('English'), ('Italian'); insert into customer (store_id, first_name) values (1, 'MARY');
insert into film (title, language_id, release_year, special_features) values ('ACADEMY DINOSAUR', 1, 2006, '{Trailers,"Deleted Scenes"}');
insert into actor (first_name, last_name) values ('PENELOPE', 'GUINESS'); insert into film_actor values (1, 1);
insert into payment (customer_id, amount, payment_date) values (1, 2.99, '2026-01-28 21:44:14.996577+00');
refresh materialized view rental_by_category;`,
}

const NORTHWIND: PublicSchema = {
  name: 'Northwind',
  sql: `
create table categories (category_id smallint not null, category_name character varying(15) not null, description text, picture bytea);
create table customers (customer_id character varying(5) not null, company_name character varying(40) not null);
create table employees (employee_id smallint not null, last_name character varying(20) not null, birth_date date, reports_to smallint, photo bytea);
create table orders (order_id smallint not null, customer_id character varying(5), employee_id smallint, order_date date, freight real);
create table order_details (order_id smallint not null, product_id smallint not null, unit_price real not null, quantity smallint not null, discount real not null);
create table products (product_id smallint not null, product_name character varying(40) not null, category_id smallint, unit_price real, discontinued integer not null);
create table territories (territory_id character varying(20) not null, region_id smallint not null);
create table employee_territories (employee_id smallint not null, territory_id character varying(20) not null);
create table us_states (state_id smallint not null, state_name character varying(100), state_abbr character varying(2));
create table settings (name text, value text);
alter table only categories add constraint pk_categories primary key (category_id);
alter table only customers add constraint pk_customers primary key (customer_id);
alter table only employees add constraint pk_employees primary key (employee_id);
alter table only orders add constraint pk_orders primary key (order_id);
alter table only order_details add constraint pk_order_details primary key (order_id, product_id);
alter table only products add constraint pk_products primary key (product_id);
alter table only territories add constraint pk_territories primary key (territory_id);
alter table only employee_territories add constraint pk_employee_territories primary key (employee_id, territory_id);
alter table only us_states add constraint pk_usstates primary key (state_id);
alter table only orders add constraint fk_orders_customers foreign key (customer_id) references customers;
alter table only orders add constraint fk_orders_employees foreign key (employee_id) references employees;
alter table only order_details add constraint fk_order_details_products foreign key (product_id) references products;
alter table only order_details add constraint fk_order_details_orders foreign key (order_id) references orders;
alter table only products add constraint fk_products_categories foreign key (category_id) references categories;
alter table only employee_territories add constraint fk_1 foreign key (territory_id) references territories;
alter table only employee_territories add constraint fk_2 foreign key (employee_id) references employees;
alter table only employees add constraint fk_employees_employees foreign key (reports_to) references employees;
insert into categories values (1, 'Beverages', 'Soft drinks', '\\x00ff'); insert into customers values ('ALFKI', 'Alfreds');
insert into employees values (1, 'Davolio', '1948-12-08', null, null), (2, 'Fuller', null, 1, null);
insert into orders values (10248, 'ALFKI', 1, '1996-07-04', 32.38); insert into products values (1, 'Chai', 1, 18, 1);
insert into order_details values (10248, 1, 14, 12, 0); insert into territories values ('01581', 1); insert into employee_territories values (1, '01581');
insert into us_states values (1, 'Alabama', 'AL'); insert into settings values ('theme', 'dark');`,
}

/** On PostgreSQL. */
export const SERVER_SCHEMAS: readonly PublicSchema[] = [PRISMA, RAILS, DJANGO, SUPABASE, PAGILA, NORTHWIND]

/** On SQLite, as programs write them that check no foreign keys and take texts in double quotes. */
export const FILE_SCHEMAS: readonly PublicSchema[] = [
  {
    name: 'a program with many-to-many tables of every form',
    sql: `
create table book (id integer primary key, title text); create table tag (id uuid primary key, label text);
create table book_tag (book_id integer references book, tag_id uuid references tag, primary key (book_id, tag_id));
create table tag_book (tag_id uuid not null references tag on delete restrict, book_id integer not null references book on delete set null,
  unique (book_id, tag_id));
create table near (one integer references book on delete cascade, other integer references book on update set null,
  primary key (other, one)) without rowid;
create table reader (book_id integer references book, tag_id uuid references tag, since date, primary key (book_id, tag_id));
create table loose (book_id integer references book, tag_id guid references tag);
insert into book values (1, 'x'); insert into tag values ('6fa459ea-ee8a-3ca4-894e-db77e160355e', 'l');
insert into book_tag select book.id, tag.id from book, tag; insert into near values (1, 1);`,
  },
  {
    name: 'a shop, whose links in primary keys have no action',
    sql: `
CREATE TABLE [Orders] ([OrderID] INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, [Freight] NUMERIC NULL DEFAULT (0));
CREATE TABLE [Products] ([ProductID] INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, [ProductName] TEXT NOT NULL);
CREATE TABLE [Order Details] ([OrderID] INTEGER NOT NULL, [ProductID] INTEGER NOT NULL, [Quantity] INTEGER NOT NULL DEFAULT 1,
  PRIMARY KEY ("OrderID", "ProductID"), CHECK ([Quantity] > (0)),
  FOREIGN KEY ([OrderID]) REFERENCES [Orders] ([OrderID]) ON DELETE NO ACTION ON UPDATE NO ACTION,
  FOREIGN KEY ([ProductID]) REFERENCES [Products] ([ProductID]) ON DELETE NO ACTION ON UPDATE NO ACTION);
CREATE TABLE [Territories] ([TerritoryID] TEXT NOT NULL PRIMARY KEY, [Region] TEXT);
CREATE TABLE [OrderTerritories] ([OrderID] INTEGER NOT NULL, [TerritoryID] TEXT NOT NULL, PRIMARY KEY ("OrderID", "TerritoryID"),
  FOREIGN KEY ([OrderID]) REFERENCES [Orders] ([OrderID]) ON DELETE NO ACTION ON UPDATE NO ACTION,
  FOREIGN KEY ([TerritoryID]) REFERENCES [Territories] ([TerritoryID]) ON DELETE NO ACTION ON UPDATE NO ACTION);
INSERT INTO [Orders] VALUES (1, 5.5); INSERT INTO [Products] VALUES (1, 'Chai'); INSERT INTO [Order Details] VALUES (1, 1, 3);
INSERT INTO [Territories] VALUES ('01581', 'East'); INSERT INTO [OrderTerritories] VALUES (1, '01581');`,
  },
  {
    name: 'Prisma',
    sql: `
CREATE TABLE "User" ("id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, "email" TEXT NOT NULL, "role" TEXT NOT NULL DEFAULT 'USER', "createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP, "updatedAt" DATETIME NOT NULL);
CREATE TABLE "Post" ("id" TEXT NOT NULL PRIMARY KEY, "title" TEXT NOT NULL, "published" BOOLEAN NOT NULL DEFAULT false, "price" DECIMAL NOT NULL DEFAULT -1, "views" BIGINT NOT NULL DEFAULT 0, "authorId" INTEGER NOT NULL, "reviewerId" INTEGER,
  CONSTRAINT "Post_authorId_fkey" FOREIGN KEY ("authorId") REFERENCES "User" ("id") ON DELETE RESTRICT ON UPDATE CASCADE,
  CONSTRAINT "Post_reviewerId_fkey" FOREIGN KEY ("reviewerId") REFERENCES "User" ("id") ON DELETE SET NULL ON UPDATE CASCADE);
CREATE TABLE "_PostToTag" ("A" TEXT NOT NULL, "B" INTEGER NOT NULL,
  CONSTRAINT "_PostToTag_A_fkey" FOREIGN KEY ("A") REFERENCES "Post" ("id") ON DELETE CASCADE ON UPDATE CASCADE, CONSTRAINT "_PostToTag_B_fkey" FOREIGN KEY ("B") REFERENCES "Tag" ("id") ON DELETE CASCADE ON UPDATE CASCADE);
CREATE TABLE "Tag" ("id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, "label" TEXT NOT NULL);
CREATE UNIQUE INDEX "User_email_key" ON "User"("email");
CREATE UNIQUE INDEX "_PostToTag_AB_unique" ON "_PostToTag"("A", "B"); CREATE INDEX "_PostToTag_B_index" ON "_PostToTag"("B");
INSERT INTO "User" ("email", "updatedAt") VALUES ('ann@example.com', 1767323045678), ('bob@example.com', '2026-01-02 03:04:05');
INSERT INTO "Post" ("id", "title", "authorId") VALUES ('ckx1', 'One', 1); INSERT INTO "Tag" ("label") VALUES ('x'); INSERT INTO "_PostToTag" VALUES ('ckx1', 1);`,
  },
  {
    name: 'Rails',
    sql: `
CREATE TABLE "schema_migrations" ("version" varchar NOT NULL PRIMARY KEY);
CREATE TABLE "users" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "email" varchar DEFAULT '' NOT NULL, "admin" boolean DEFAULT 0, "settings" json DEFAULT '{}', "rate" decimal(8,2) DEFAULT 0.0, "created_at" datetime(6) NOT NULL);
CREATE TABLE "articles" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "title" varchar(100), "user_id" integer NOT NULL, "position" integer DEFAULT -1, "published_on" date, CONSTRAINT "fk_rails_1" FOREIGN KEY ("user_id") REFERENCES "users" ("id"));
CREATE INDEX "index_articles_on_user_id" ON "articles" ("user_id"); CREATE UNIQUE INDEX "index_users_on_email" ON "users" ("email") WHERE email <> '';
CREATE INDEX "index_lower" ON "articles" (lower(title));
INSERT INTO users (email, created_at) VALUES ('a@b.c', '2026-01-02 03:04:05.678901'); INSERT INTO articles (title, user_id, published_on) VALUES ('One', 1, '2026-01-02'), (NULL, 1, NULL);
INSERT INTO schema_migrations VALUES ('20260101000000');`,
  },
  {
    name: 'Django',
    sql: `
CREATE TABLE "auth_user" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "password" varchar(128) NOT NULL, "last_login" datetime NULL, "is_superuser" bool NOT NULL, "username" varchar(150) NOT NULL UNIQUE);
CREATE TABLE "polls_choice" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "votes" integer unsigned NOT NULL CHECK ("votes" >= 0), "token" char(32) NOT NULL UNIQUE, "spent" bigint NULL, "data" text NULL CHECK ((JSON_VALID("data") OR "data" IS NULL)), "price" decimal NOT NULL,
  "user_id" integer NOT NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED);
CREATE TABLE "polls_choice_groups" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "choice_id" bigint NOT NULL REFERENCES "polls_choice" ("id") DEFERRABLE INITIALLY DEFERRED, "user_id" integer NOT NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED);
CREATE UNIQUE INDEX "polls_choice_groups_uniq" ON "polls_choice_groups" ("choice_id", "user_id"); CREATE INDEX "polls_choice_user" ON "polls_choice" ("user_id");
INSERT INTO auth_user VALUES (7, 'x', '2026-01-02 03:04:05.678901', 1, 'root'); INSERT INTO polls_choice VALUES (1, 3, '00112233445566778899aabbccddeeff', NULL, '{"a": 1}', 2.5, 7); INSERT INTO polls_choice_groups VALUES (1, 1, 7);`,
  },
  {
    name: 'Chinook and Northwind',
    sql: `
CREATE TABLE [Artist] ([ArtistId] INTEGER NOT NULL, [Name] NVARCHAR(120), CONSTRAINT [PK_Artist] PRIMARY KEY ([ArtistId]));
CREATE TABLE [Album] ([AlbumId] INTEGER NOT NULL, [Title] NVARCHAR(160) NOT NULL, [ArtistId] INTEGER NOT NULL, CONSTRAINT [PK_Album] PRIMARY KEY ([AlbumId]), FOREIGN KEY ([ArtistId]) REFERENCES [Artist] ([ArtistId]) ON DELETE NO ACTION ON UPDATE NO ACTION);
CREATE TABLE [Playlist Track] ([PlaylistId] INTEGER NOT NULL, [AlbumId] INTEGER NOT NULL, CONSTRAINT [PK_PT] PRIMARY KEY ([PlaylistId], [AlbumId]), FOREIGN KEY ([AlbumId]) REFERENCES [Album]);
CREATE TABLE [Order Details] ("OrderID" INT NOT NULL, "ProductID" INT NOT NULL, "UnitPrice" MONEY NOT NULL DEFAULT (0), "Quantity" SMALLINT NOT NULL CHECK ("Quantity" > 0) DEFAULT (1), "Discount" REAL, PRIMARY KEY ("OrderID", "ProductID")) WITHOUT ROWID;
CREATE TABLE [Employees] ([EmployeeID] INTEGER PRIMARY KEY AUTOINCREMENT, [LastName] TEXT, [ReportsTo] INTEGER REFERENCES [Employees] ([EmployeeID]), [Photo] BLOB, [Notes] NTEXT COLLATE NOCASE, [Full] TEXT GENERATED ALWAYS AS ([LastName] || '!') VIRTUAL);
CREATE TABLE strict_one (id integer primary key, n int not null default 5, t text, r real, a any) strict;
CREATE VIEW [Products Above] AS SELECT * FROM [Album]; CREATE TRIGGER tr AFTER INSERT ON [Artist] BEGIN UPDATE [Artist] SET [Name] = new.[Name]; END;
INSERT INTO [Artist] VALUES (1, 'AC/DC'); INSERT INTO [Album] VALUES (1, 'For Those', 1); INSERT INTO [Playlist Track] VALUES (1, 1); INSERT INTO [Order Details] VALUES (10248, 11, 14, 12, 0.15);
INSERT INTO [Employees] ([LastName], [ReportsTo], [Photo]) VALUES ('Davolio', NULL, x'00ff'), ('Fuller', 1, NULL); INSERT INTO strict_one (t, a) VALUES ('x', x'01');`,
  },
  {
    name: 'a careless program',
    sql: `
create table a (id integer primary key, note text not null default "", kind text not null default "isbn", mark text default 'it''s');
create table b (id integer primary key, key guid, n integer, born date, at datetime, flag boolean, money decimal(10,2), j json, s string, untyped, a_id integer references a, b_id integer references gone (id));
create table c (a_id int references a (id), label text, unique (label));
create table setting (name text, value text);
create table d (id int primary key, code varchar(3) unique, a integer references a on delete cascade on update cascade);
insert into a (id) values (1); insert into b values (1, x'00112233445566778899aabbccddeeff', 'many', '0000-00-00', 'n/a', 'yes', 'free', '{broken', '007', x'ff', 7, 3), (2, null, 5, '2026-01-02', 1767323045678, 1, 2.5, '[1]', 'x', 1.5, 1, null);
insert into c values (9, 'x'); insert into setting values ('theme', 'dark'); insert into d values (1, 'toolong', 5), ('id', null, null);`,
  },
]
