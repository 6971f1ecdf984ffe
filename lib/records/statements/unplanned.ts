/** Unplanned: statements cannot do a write after all. The written rows are taken back; the unit of work writes. */
export class Unplanned extends Error {}
