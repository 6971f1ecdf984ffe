/** The layout of diagrams, for any model: boxes never overlap, each relation has a line from box to box, and lines go around boxes. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import type { Diagram } from '../../lib/description/diagram/diagram-parts.ts'
import type { DiagramAttribute } from '../../lib/description/diagram/diagram-parts.ts'
import { layOut } from '../../lib/description/diagram/layout.ts'
import type { Box, Layout } from '../../lib/description/diagram/layout.ts'
import { drawDiagram } from '../../lib/description/diagram/svg.ts'
import { check } from '../helpers/check.ts'
import { cpuOf, leastOf } from '../helpers/least.ts'

const cardinality = fc.constantFrom('one' as const, 'zeroOrOne' as const, 'many' as const)

function attribute(name: string, isRelation = false): DiagramAttribute {
  return { name, type: isRelation ? 'other' : 'text', isKey: name === 'id', isRelation, mayBeEmpty: false }
}

/** Diagrams of so many resources, with relations between any of them, themselves included. */
function diagrams(most: number): fc.Arbitrary<Diagram> {
  return fc.integer({ min: 1, max: most }).chain(count => {
    const place = fc.nat(count - 1)
    const relation = fc.record({
      from: place,
      to: place,
      ends: fc.tuple(cardinality, cardinality),
      isShown: fc.boolean(),
      isBoth: fc.boolean(),
    })
    return fc
      .record({ rows: fc.array(fc.nat(30), { minLength: count, maxLength: count }), links: fc.array(relation, { maxLength: count * 2 }) })
      .map(({ rows, links }) => ({
        entities: rows.map((extra, index) => ({
          name: `resource_${index}`,
          singular: `one_${index}`,
          attributes: [
            attribute('id'),
            ...Array.from({ length: extra }, (_, each) => attribute(`attribute_${'x'.repeat(each)}`)),
            ...links.flatMap((link, each) => (link.from === index && link.isShown ? [attribute(`link_${each}`, true)] : [])),
            ...links.flatMap((link, each) => (link.to === index && link.isBoth ? [attribute(`back_${each}`, true)] : [])),
          ],
        })),
        relations: links.map(({ from, to, ends, isShown, isBoth }, each) => ({
          from: { entity: `resource_${from}`, attribute: isShown ? `link_${each}` : undefined, cardinality: ends[0] },
          to: { entity: `resource_${to}`, attribute: isBoth ? `back_${each}` : undefined, cardinality: ends[1] },
        })),
      }))
  })
}

function overlap(a: Box, b: Box): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height
}

function assertApart({ boxes, width, height }: Layout): void {
  for (const [index, box] of boxes.entries()) {
    assert.ok(box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.y + box.height <= height, `${box.title} is outside`)
    for (const other of boxes.slice(index + 1)) assert.ok(!overlap(box, other), `${box.title} and ${other.title}`)
  }
}

/** The ends of each line are on the border of their boxes, at the row of their attribute. */
function assertLinked({ relations }: Diagram, { boxes, lines }: Layout): void {
  const byName = new Map(boxes.map(box => [box.entity.name, box]))
  assert.deepEqual(
    lines.map(({ relation }) => relation),
    relations,
  )
  for (const { relation, start, end } of lines) {
    for (const [point, { entity, attribute: name }] of [
      [start, relation.from],
      [end, relation.to],
    ] as const) {
      const box = byName.get(entity)!
      assert.equal(point.x, point.side === 'right' ? box.x + box.width : box.x)
      const row = box.rows.find(each => each.attribute?.name === name)
      if (name !== undefined) assert.equal(point.y, row?.y, `${entity} shows ${name}`)
      assert.ok(point.y > box.y && point.y < box.y + box.height)
    }
  }
}

/** Where a line passes a column, it is straight, and no box of the column is there. */
function assertAround({ boxes, lines }: Layout): void {
  for (const { points } of lines) {
    // Around the end of one column.
    if (points.length === 4 && Math.abs(points[1]!.x - points[2]!.x) < 1) continue
    // A bend is between two columns that are side by side.
    for (let index = 0; index + 1 < points.length; index += 2) {
      const [left, right] = [points[index]!.x, points[index + 1]!.x].toSorted((a, b) => a - b) as [number, number]
      const met = boxes.find(box => left < box.x + box.width / 2 && box.x + box.width / 2 < right)
      assert.equal(met, undefined, met?.title)
    }
    // Between the bends it passes a column.
    for (let index = 1; index + 1 < points.length - 1; index += 2) {
      const [a, b] = [points[index]!, points[index + 1]!]
      assert.equal(a.y, b.y)
      const [left, right] = [Math.min(a.x, b.x), Math.max(a.x, b.x)]
      const met = boxes.find(box => box.x < right && left < box.x + box.width && box.y < a.y && a.y < box.y + box.height)
      assert.equal(met, undefined, met?.title)
    }
  }
}

describe('the layout of a diagram', () => {
  it('keeps boxes apart, ends lines at boxes, and leads them around boxes', async () => {
    await check(
      fc.property(diagrams(30), diagram => {
        const layout = layOut(diagram)
        assertApart(layout)
        assertLinked(diagram, layout)
        assertAround(layout)
      }),
      { label: 'layout: places' },
    )
  })

  it('is the same each time', async () => {
    await check(
      fc.property(diagrams(10), diagram => {
        assert.deepEqual(layOut(structuredClone(diagram)), layOut(diagram))
      }),
      { label: 'layout: twice' },
    )
  })

  it('draws no thing of no size or place', async () => {
    await check(
      fc.property(diagrams(8), diagram => {
        const text = drawDiagram(diagram, { title: 'Model', isWhole: true })
        assert.ok(!/NaN|undefined|Infinity/.test(text))
        assert.equal(text.match(/<g data-resource=/g)?.length ?? 0, diagram.entities.length)
        assert.equal(text.match(/<g data-from=/g)?.length ?? 0, diagram.relations.length)
      }),
      { label: 'layout: texts' },
    )
  })

  for (const [kind, target] of [
    ['a chain', (index: number) => index + 1],
    ['a star', () => 0],
    ['a ring with shortcuts', (index: number) => (index * 7 + 1) % 300],
  ] as const) {
    it(`takes a moment for 300 resources in ${kind}`, async () => {
      const names = Array.from({ length: 300 }, (_, index) => `resource_${index}`)
      const diagram: Diagram = {
        entities: names.map(name => ({ name, singular: name, attributes: [attribute('id'), attribute('link', true)] })),
        relations: names.slice(0, -1).flatMap((name, index) =>
          target(index) === index && kind !== 'a star'
            ? []
            : [
                {
                  from: { entity: name, attribute: 'link', cardinality: 'many' as const },
                  to: { entity: names[target(index)]!, attribute: undefined, cardinality: 'one' as const },
                },
              ],
        ),
      }
      const [taken] = await leastOf([() => cpuOf(() => layOut(diagram))], time => time < 5000)
      const layout = layOut(diagram)
      assertApart(layout)
      assertLinked(diagram, layout)
      assert.ok(taken < 5000, `${taken} ms`)
      assert.ok(layout.width < 6 * layout.height && layout.height < 6 * layout.width, `${layout.width} x ${layout.height}`)
    })
  }

  it('of nothing is empty', () => {
    assert.deepEqual(layOut({ entities: [], relations: [] }).boxes, [])
  })
})
