/** What `spec/helpers/statements.ts` takes of pg, in a page, which has no server. */
export class Client {
  query(): void {}
}
