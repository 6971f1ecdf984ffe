/** Unplanned: says that statements cannot do a write after all. All that they have written is taken back, and the unit of work does it. */
export class Unplanned extends Error {}
