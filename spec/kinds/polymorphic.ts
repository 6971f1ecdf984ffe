/** Relations to one of several entities: with keys of several types, required and not, from both sides, to classes that inherit. */
import { defineEntity, p } from '@mikro-orm/sqlite'

export const User = defineEntity({
  name: 'User',
  properties: { id: p.integer().primary(), name: p.string(), posts: () => p.oneToMany(Post).mappedBy('author') },
})
export const Post = defineEntity({
  name: 'Post',
  properties: {
    id: p.integer().primary(),
    title: p.string(),
    size: p.integer().nullable(),
    grade: p.string().nullable(),
    meta: p.json().nullable(),
    author: () => p.manyToOne(User).nullable().deleteRule('cascade'),
    comments: () => p.oneToMany(Comment).mappedBy('target'),
    pin: () => p.oneToOne(Pin).mappedBy('on'),
    flags: () => p.oneToMany(Flag).mappedBy('of').orphanRemoval(),
  },
})
export const Photo = defineEntity({
  name: 'Photo',
  properties: {
    id: p.integer().primary(),
    url: p.string(),
    size: p.integer().nullable(),
    grade: p.integer().nullable(),
    author: () => p.manyToOne(User).nullable(),
    comments: () => p.oneToMany(Comment).mappedBy('target'),
    pin: () => p.oneToOne(Pin).mappedBy('on'),
  },
})
/** A comment is about a post, a photo, or another comment. */
export const Comment = defineEntity({
  name: 'Comment',
  properties: {
    id: p.integer().primary(),
    text: p.string().nullable(),
    changes: p.integer().version(),
    target: () => p.manyToOne([Post, Photo, Comment]).nullable(),
    comments: () => p.oneToMany(Comment).mappedBy('target'),
  },
})
export const Pin = defineEntity({
  name: 'Pin',
  properties: {
    id: p.integer().primary(),
    on: () => p.oneToOne([Post, Photo]).inversedBy('pin').nullable(),
  },
})
/** What cannot be without its target. */
export const Flag = defineEntity({
  name: 'Flag',
  properties: { id: p.integer().primary(), of: () => p.manyToOne([Post, Photo]) },
})

export const entities = [User, Post, Photo, Comment, Pin, Flag]
