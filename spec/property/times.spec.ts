/** Date-times as JSON.stringify writes a Date are read by hand: every text that looks like one is read as Date and the calendar have it. */
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { describe, it } from 'node:test'
import { formatIso, isCalendarDate, parseDatetime } from '../../lib/foundation/values/iso-time.ts'
import { check } from '../helpers/check.ts'

const number = (max: number, digits = 2) => fc.integer({ min: 0, max }).map(value => String(value).padStart(digits, '0'))

describe('a date-time', () => {
  it('of any year with four digits is read as it is written', () => {
    const [min, max] = [Date.parse('0000-01-01T00:00:00.000Z'), Date.parse('9999-12-31T23:59:59.999Z')]
    const property = fc.property(fc.integer({ min, max }), time => assert.equal(parseDatetime(formatIso(time)), time))
    return check(property, { label: 'times', runs: 2000 })
  })

  it('that no calendar has, or with another character in it, is refused', () => {
    const parts = [number(9999, 4), number(14), number(32), number(25), number(61), number(61), number(999, 3)]
    const marks = fc.constantFrom('--T::.Z', '--T::.Z', '--t::.z', '--T:: Z', '/-T::.Z', '--T::.+', '--T:x.Z')
    const texts = fc.tuple(fc.tuple(...parts), marks).map(([numbers, between]) => numbers.map((value, at) => value + between[at]!).join(''))
    const readByDate = (text: string): number | undefined => {
      const [date = '', time = ''] = text.split(/t/i)
      const isTime = /^(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}z$/i.test(time)
      return isTime && isCalendarDate(date) ? Date.parse(text.toUpperCase()) : undefined
    }
    const property = fc.property(texts, text => assert.equal(parseDatetime(text), readByDate(text), text))
    return check(property, { label: 'texts', runs: 5000 })
  })

  it('with another character in the place of a digit is refused', () => {
    const time = fc.integer({ min: Date.parse('0000-01-01'), max: Date.parse('9999-12-31') })
    const property = fc.property(time, fc.nat(22), fc.constantFrom(...' x/:;-+é'), (milliseconds, place, character) => {
      const text = formatIso(milliseconds)
      const other = text.slice(0, place) + character + text.slice(place + 1)
      assert.ok(!Number.isNaN(parseDatetime(other) ?? 0), other)
      if (/\d/.test(text[place]!)) assert.equal(parseDatetime(other), undefined, other)
    })
    return check(property, { label: 'characters', runs: 2000 })
  })
})
