/** Unplanned: statements cannot do a write after all. All written rows are taken back, and the unit of work does the write. */
export class Unplanned extends Error {}
