import { Migration } from '@mikro-orm/migrations';

/** What comments say about who started the work, before and since. */
const comments: readonly (readonly [what: string, before: string, since: string])[] = [
  [
    'table "exports"',
    'Document with records of one kind, which the server writes page by page with the rights that the person has at the time of each page.',
    'Document with records of one kind, which the server writes page by page with the rights that the person or API token has at the time of each page.',
  ],
  [
    'table "imports"',
    'CSV document from which the server creates or changes records of one kind: all of them or none, with the rights of the person who started it.',
    'CSV document from which the server creates or changes records of one kind: all of them or none, with the rights of the person or API token that started it.',
  ],
  ...['exports', 'imports'].flatMap((table) => [
    [
      `column "${table}"."requestor_id"`,
      'Person who started the work.',
      'Person who started the work; null for an API token.',
    ] as const,
    [
      `column "${table}"."token_id"`,
      'Id of the personal token with which the work was started, within whose scopes it stays; null for a session.',
      'Id of the API token or personal token with which the work was started, within whose scopes it stays; null for a session.',
    ] as const,
  ]),
];

/** API tokens start exports and imports as personal tokens do. */
export class Migration20261127181000TokensOfAllTransfers extends Migration {
  override up(): void {
    for (const [what, , since] of comments) this.addSql(`comment on ${what} is '${since}';`);
  }

  override down(): void {
    for (const [what, before] of comments) this.addSql(`comment on ${what} is '${before}';`);
  }
}
